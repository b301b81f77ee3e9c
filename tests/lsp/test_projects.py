"""Which projects, interpreters and settings are in force where?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.lsp.editor import ONE_CLIENT, Editor
from tests.lsp.projects import BAD, CONFIG, GOOD, Shop, environment, known_green, shop, write

WHICH = "import sys\n\n\ndef test_which():\n    assert sys.prefix == 'nowhere'\n"


async def test_two_projects_of_one_folder_have_their_own_interpreters(editor: Editor, tmp_path: Path) -> None:
    root = tmp_path / "work"
    for name in ("one", "two"):
        write(root / name, {"pyproject.toml": CONFIG, "test_which.py": WHICH})
        environment(root / name / ".venv")
    await editor.start(root, settings={"interpreter": ""})
    for name in ("one", "two"):
        path = root / name / "test_which.py"
        editor.open(path)
        editor.save(path, WHICH + "\n")
        (shown,) = await editor.until(partial(editor.red, path))
        assert f"{name}" in shown.message.split("got", 1)[1]
    assert {s["root"] for s in await editor.status()} == {(root / n).as_uri() for n in ("one", "two")}


async def test_two_roots_are_healed_apart(editor: Editor, tmp_path: Path) -> None:
    one, two = shop(tmp_path / "one"), shop(tmp_path / "two")
    await editor.start(one.root, two.root)
    editor.open(one.cart)
    editor.save(one.cart, BAD)
    await editor.fix_at(one.cart, 3)
    assert editor.red(two.tests) == []
    states = {s["root"]: s["red"] for s in await editor.idle()}
    assert states == {one.root.as_uri(): 1, two.root.as_uri(): 0}


async def test_nothing_runs_in_a_folder_that_is_not_trusted(editor: Editor, cart: Shop) -> None:
    proof = cart.root.parent / "ran"
    cart.tests.write_text(f"open({str(proof)!r}, 'w').close()\n" + cart.tests.read_text())
    await editor.start(cart.root, trusted=None)
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    (notice,) = await editor.until(lambda: editor.notices(cart.cart))
    assert "until you trust it" in notice.message
    assert "until you trust it" in (await editor.command("heal"))["message"]
    assert [s["state"] for s in await editor.idle()] == ["untrusted"]
    assert not proof.exists()
    (action,) = await editor.actions(cart.cart, 0)
    assert action.command is not None
    assert action.command.command == "regreen.server.trust"
    answer = await editor.command("trust", uri=cart.root.as_uri())
    assert answer["trusted"] is True
    await editor.until(lambda: editor.red(cart.tests))


async def test_a_repository_that_names_an_executable_is_ignored_and_reported_once(
    editor: Editor, tmp_path: Path
) -> None:
    evil = tmp_path / "evil"
    project = shop(tmp_path / "shop", config=f"{CONFIG}[tool.regreen]\ninterpreter = '{evil.as_posix()}'\n")
    await editor.start(project.root)
    editor.open(project.cart)
    editor.save(project.cart, BAD)
    await editor.fix_at(project.cart, 3)
    assert editor.log.count("`regreen.interpreter` cannot be set by a file in the repository") == 1


async def test_unknown_and_bad_settings_are_reported_once(editor: Editor, cart: Shop) -> None:
    await editor.start(cart.root, settings={"autoHeal.onsave": True, "heal.offers": 9})
    await editor.idle()
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.fix_at(cart.cart, 3)
    assert editor.log.count("There is no setting `regreen.autoHeal.onsave`") == 1
    assert "Did you mean `regreen.autoHeal.onSave`?" in editor.log
    assert editor.log.count("`regreen.heal.offers` must be at most 3") == 1


async def test_settings_are_pulled_again_when_they_change(editor: Editor, cart: Shop) -> None:
    from lsprotocol import types as t

    await editor.start(cart.root, settings={"runTests": "manual"})
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.idle()
    assert editor.red(cart.tests) == []
    editor.client.set_configuration("onSave", section="regreen.runTests")
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(settings=None))
    await editor.command("status")
    editor.save(cart.cart, BAD + "\n")
    await editor.until(lambda: editor.red(cart.tests))


async def test_a_missing_pytest_is_told_where_the_user_looks(
    editor: Editor, cart: Shop, tmp_path: Path
) -> None:
    python = environment(tmp_path / "bare", with_pytest=False)
    await editor.start(cart.root, settings={"interpreter": str(python)})
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    (notice,) = await editor.until(lambda: editor.notices(cart.cart))
    assert "pytest" in notice.message
    assert [s["state"] for s in await editor.idle()] == ["problem"]


async def test_a_missing_interpreter_is_told_and_a_better_setting_mends_it(
    editor: Editor, cart: Shop
) -> None:
    import sys

    from lsprotocol import types as t

    await editor.start(cart.root, settings={"interpreter": "/no/such/python"})
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    (notice,) = await editor.until(lambda: editor.notices(cart.cart))
    assert "/no/such/python" in notice.message
    editor.client.set_configuration(sys.executable, section="regreen.interpreter")
    editor.client.workspace_did_change_configuration(t.DidChangeConfigurationParams(settings=None))
    await editor.command("status")
    editor.save(cart.cart, BAD + "\n")
    await editor.fix_at(cart.cart, 3)
    assert editor.notices(cart.cart) == []


async def test_an_editable_install_is_healed_in_the_copy_that_is_imported(
    editor: Editor, tmp_path: Path
) -> None:
    root = tmp_path / "pkg"
    tests = "from shop.cart import total\n\n\ndef test_total():\n    assert total([10, 5]) == 15\n"
    write(
        root,
        {
            "pyproject.toml": "[tool.pytest.ini_options]\n",
            "src/shop/__init__.py": "",
            "src/shop/cart.py": GOOD,
            "tests/test_cart.py": tests,
        },
    )
    known_green(root, "tests/test_cart.py::test_total")
    environment(root / ".venv", paths=(root / "src",))
    await editor.start(root, settings={"interpreter": ""})
    path = root / "src/shop/cart.py"
    editor.open(path)
    editor.save(path, BAD)
    await editor.take(await editor.fix_at(path, 3))
    assert editor.buffers[path].text == GOOD


@ONE_CLIENT
async def test_a_folder_of_twenty_thousand_files_is_opened_and_healed(editor: Editor, cart: Shop) -> None:
    for folder in range(100):
        place = cart.root / "data" / str(folder)
        place.mkdir(parents=True)
        for number in range(200):
            (place / f"{number}.txt").touch()
    await editor.start(cart.root, settings={"heal.offers": 1})
    editor.open(cart.cart)
    editor.save(cart.cart, BAD)
    await editor.fix_at(cart.cart, 3)


async def test_each_project_is_run_with_what_the_client_says_of_it(editor: Editor, tmp_path: Path) -> None:
    root = tmp_path / "work"
    for name in ("one", "two"):
        write(root / name, {"pyproject.toml": CONFIG, "test_which.py": WHICH})
        chosen = environment(root / f"chosen-{name}")
        editor.client.set_configuration(
            {"regreen": {"interpreter": str(chosen)}}, scope_uri=(root / name).as_uri()
        )
    await editor.start(root)
    for name in ("one", "two"):
        path = root / name / "test_which.py"
        editor.open(path)
        editor.save(path, WHICH + "\n")
        (shown,) = await editor.until(partial(editor.red, path))
        assert f"chosen-{name}" in shown.message
