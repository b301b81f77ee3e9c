"""What a person in a real Neovim is asked before a language model is told anything."""

from __future__ import annotations

from pathlib import Path

from tests.models.scripts import diagnosis, patch, write_script

from .conftest import CART, Start
from .nvim import Neovim

HINT = "prices are added"


def script(folder: Path) -> str:
    """A model that is wrong until it is given the hint."""
    right, wrong = (
        patch("cart.py", "        result -= price", f"        result {operator} price")
        for operator in ("+=", "*=")
    )
    return write_script(
        folder,
        diagnosis(4, "7", "Prices are taken away.", "Add each price."),
        [{"when": HINT, "text": right}, {"text": wrong}],
    )


def choose(nvim: Neovim, *picks: str) -> None:
    """What the person picks of the questions to come; the questions are kept."""
    nvim.lua(
        """
        _G.asked, _G.picks = _G.asked or {}, ...
        vim.ui.select = function(items, options, chosen)
          local titles = vim.tbl_map(function(one) return (options.format_item or tostring)(one) end, items)
          table.insert(_G.asked, { prompt = options.prompt, titles = titles })
          local wanted = table.remove(_G.picks, 1)
          for number, title in ipairs(titles) do
            if title == wanted then return chosen(items[number], number) end
          end
          chosen(nil, nil)
        end
        """,
        list(picks),
    )


def ended(nvim: Neovim, times: int) -> None:
    """Wait until so many heals of the test have ended."""
    nvim.until(
        "#vim.tbl_filter(function(line) return line:find('test_total: %u') end, require('regreen.log').lines()) >= ...",
        times,
    )


def test_consent_is_asked_for_once_and_a_hint_takes_a_heal_further(
    project: Path, start: Start, tmp_path: Path
) -> None:
    model = {"mode": "allowed", "model": script(tmp_path), "strategies": 1}
    (project / "cart.py").write_text(CART.replace("+=", "-="), encoding="utf-8")
    nvim = start(heal={"maxCandidates": 0}, llm=model)
    nvim.open(project / "test_cart.py")
    nvim.command("RegreenTrust")
    nvim.until("not require('regreen').status():find('not trusted')")
    nvim.command("RegreenRun")
    nvim.until("vim.diagnostic.get(0)[1] and vim.diagnostic.get(0)[1].code == 'test-failed'")
    assert nvim.lua("return _G.asked") is None, "runs ask nothing"

    nvim.type("6G")
    choose(nvim, "Send")
    nvim.command("RegreenHeal")
    ended(nvim, 1)
    (asked,) = nvim.lua("return _G.asked")
    assert "scripted at api.example.com" in asked["prompt"]
    assert asked["titles"] == ["Send", "Show the text", "Not now", "Never in this folder"]
    assert not nvim.lua("return vim.diagnostic.get(0)[1].message:find('verified fix')")

    nvim.command(f"RegreenResume {HINT}")
    ended(nvim, 2)
    nvim.until(
        "vim.iter(vim.diagnostic.get(0)):any(function(d) return d.message:find('verified fix') ~= nil end)"
    )
    assert len(nvim.lua("return _G.asked")) == 1, "what was allowed once holds"
