"""What the plug-in says of itself: health, help, commands, options, and what it does where it is not wanted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import Start
from .nvim import CLIENT, Neovim, NvimError
from .steps import known_green


def health(nvim: Neovim) -> str:
    nvim.command("checkhealth regreen")
    nvim.until("vim.bo.filetype == 'checkhealth' and #vim.api.nvim_buf_get_lines(0, 0, -1, false) > 6")
    return nvim.text()


def test_health_shows_the_server_the_interpreter_and_pytest(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    nvim.open(project / "cart.py")
    nvim.until("require('regreen').status() == 'regreen'")
    text = health(nvim)
    assert re.search(r"OK Neovim 0\.1\d", text), text
    assert re.search(r"OK server: regreen \d+\.\d+", text), text
    assert f"OK {project} is trusted, idle" in text
    assert re.search(r"OK interpreter: .*python.* \(Python 3\.\d+\.\d+\), found by: ", text), text
    assert re.search(r"OK pytest: \d+\.\d+", text), text
    assert "isolation: " in text
    assert "ERROR" not in text


def test_health_names_a_server_that_is_missing(project: Path, start: Start) -> None:
    nvim = start()
    nvim.lua("vim.lsp.config('regreen', { cmd = { '/no/such/regreen', '--stdio' } })")
    text = health(nvim)
    assert "ERROR the server `/no/such/regreen` is not found" in text
    assert "uv tool install regreen" in text


def test_health_says_when_the_server_is_not_enabled(start: Start) -> None:
    nvim = start()
    nvim.lua("vim.lsp.enable('regreen', false)")
    assert "WARNING not enabled" in health(nvim)


def test_every_command_option_and_function_has_help(start: Start, tmp_path: Path) -> None:
    nvim = start()
    copy = tmp_path / "copy" / "doc"
    copy.mkdir(parents=True)
    (copy / "regreen.txt").write_bytes((CLIENT / "doc" / "regreen.txt").read_bytes())
    nvim.lua("vim.cmd.helptags(...)", str(copy))
    tags = {line.split("\t")[0] for line in (copy / "tags").read_text(encoding="utf-8").splitlines()}
    commands = nvim.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))")
    ours = {f":{name}" for name in commands if name.startswith("Regreen")}
    assert len(ours) == 12
    assert ours <= tags
    assert {"regreen.setup()", "regreen.status()", "RegreenStatus"} <= tags
    text = (copy / "regreen.txt").read_text(encoding="utf-8")
    own = {name for name in re.findall(r"\|([^|\s]+)\|", text) if "egreen" in name}
    assert own <= tags, own - tags
    others = [name for name in re.findall(r"\|([^|\s]+)\|", text) if "egreen" not in name]
    missing = nvim.lua(
        "return vim.tbl_filter(function(tag) return #vim.fn.getcompletion(tag, 'help') == 0 end, ...)", others
    )
    assert missing == []
    assert max(map(len, text.splitlines())) <= 80


def test_the_documented_commands_are_the_defined_ones(start: Start) -> None:
    nvim = start()
    commands = nvim.lua("return vim.tbl_keys(vim.api.nvim_get_commands({}))")
    page = (CLIENT.parent / "docs" / "neovim.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `:(Regreen\w+)", page, re.MULTILINE))
    assert documented == {name for name in commands if name.startswith("Regreen")}


def test_every_command_says_why_it_does_nothing_outside_of_a_project(start: Start) -> None:
    nvim = start()
    for name in (
        "Heal",
        "Run",
        "Cancel",
        "Trust",
        "Preview",
        "Apply",
        "Explain",
        "Mute",
        "ToggleAutoHeal",
        "Status",
    ):
        nvim.command("messages clear")
        nvim.command(f"Regreen{name}")
        assert "Regreen: not running here; `:checkhealth regreen` tells why" in nvim.messages(), name


def test_a_lone_script_starts_no_server(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text("print('hello')\n", encoding="utf-8")
    nvim = start()
    nvim.command(f"edit {script}")
    assert nvim.lua("return vim.bo.filetype") == "python"
    assert nvim.lua("return #vim.lsp.get_clients()") == 0
    assert nvim.status() == ""


def test_a_wrong_option_is_named(start: Start) -> None:
    nvim = start()
    with pytest.raises(NvimError, match="preview: expected 'split' or 'unified'"):
        nvim.lua("require('regreen').setup({ preview = 'sideways' })")


def test_an_unknown_setting_is_named_in_the_log(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true", runTest="manual")
    nvim.open(project / "cart.py")
    nvim.until(
        "vim.iter(require('regreen.log').lines()):any(function(l) return l:find('regreen.runTest`') end)"
    )
    nvim.command("RegreenLog")
    assert "Did you mean `regreen.runTests`?" in nvim.text()


def test_status_is_that_of_the_project_that_holds_the_file(project: Path, start: Start) -> None:
    nvim = start(options="trusted = true")
    nvim.lua(
        """
        _G.seen = {}
        vim.api.nvim_create_autocmd('User', {
          pattern = 'RegreenStatus',
          callback = function(event) table.insert(_G.seen, event.data.state) end,
        })
        """
    )
    known_green(nvim, project / "cart.py")
    assert nvim.status() == "regreen: all green"
    assert "running" in nvim.lua("return _G.seen")
    nvim.command("RegreenStatus")
    nvim.until_said("is idle: all green")
    nvim.lua("vim.o.laststatus = 2; vim.o.statusline = \"%f %m%=%{v:lua.require'regreen'.status()} %l,%c\"")
    assert any("regreen: all green" in row for row in nvim.screen())
