"""What a language model wrote sees little of the user's environment, and runs nowhere unconfined; no run sees its keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.oracle.world import LEAN, World

from regreen.values import Rung, RunReport, RunRequest

KEYS: dict[str, Any] = {"OPENAI_API_KEY": "key-of-the-user", "SOME_NAME": "sk-ant-0123456789abcdefghij"}
USERS: dict[str, Any] = {
    "FOO": "bar-of-the-user",
    "DATABASE_PASSWORD": "secret-of-the-user",
    "LC_TIME": "C",
    "TZ": "UTC",
}
FILES: dict[str, Any] = {"STAGE": "test", "GEMINI_API_KEY": "key-of-the-file"}
ALL = {**USERS, **KEYS, **FILES}
SHOP = "def seen():\n    return ''\n"
LOOK = f"""\
def seen():
    import json, os
    ALL = {ALL!r}
    began_with = open("/proc/self/environ").read()
    return json.dumps([dict(os.environ.items() & ALL.items()), [n for n, v in ALL.items() if v in began_with]])
"""
TEST = """\
    from shop import seen

    def test_it():
        print(seen())
        assert seen() == "[]"
    """


@pytest.fixture
def shop(world: World) -> World:
    world.write(shop=SHOP, test_it=TEST)
    (world.root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    (world.root / "test.env").write_text("".join(f"{name}={value}\n" for name, value in FILES.items()))
    return world


async def patched(shop: World, text: str, **fields: Any) -> RunReport:
    request = RunRequest(
        await shop.mirror.sync({}),
        ("test_it.py::test_it",),
        overlay={shop.root / "shop.py": text.encode()},
    )
    return await shop.oracle.run(replace(request, **fields))


async def seen(
    shop: World, rung: Rung = Rung.WARM, origin: str = "template"
) -> tuple[dict[str, str], set[str]]:
    """What of it all a patch sees, and what its process was started with."""
    report = await patched(shop, LOOK, rung=rung, origin=origin)
    assert (report.rung is Rung.HOT) == (rung is Rung.HOT)
    (failure,) = report.failures
    now, began_with = json.loads(failure.output.strip().splitlines()[-1])
    return now, set(began_with)


@pytest.mark.parametrize(
    ("rung", "more"),
    [(Rung.COLD, {}), (Rung.WARM, {}), (Rung.HOT, {}), (Rung.WARM, {"REGREEN_NO_FORK": "1"})],
    ids=["cold", "warm", "hot", "without fork"],
)
async def test_a_template_sees_the_users_environment_and_a_model_what_programs_need(
    shop: World, rung: Rung, more: dict[str, Any]
) -> None:
    shop.oracle = shop.make_oracle(env_file="test.env", model_variables=tuple(LEAN), **USERS, **KEYS, **more)
    now, began_with = await seen(shop, rung=rung)
    assert now == {**USERS, "STAGE": "test"}
    assert {"FOO", "DATABASE_PASSWORD"} <= began_with
    assert began_with.isdisjoint({*KEYS, *FILES} - {"STAGE"})
    now, began_with = await seen(shop, rung=rung, origin="model")
    assert now == {"LC_TIME": "C", "TZ": "UTC", "STAGE": "test"}
    assert began_with.isdisjoint(ALL.keys() - {"LC_TIME", "TZ", "STAGE"})


async def test_a_model_sees_the_variables_that_a_setting_names_but_no_keys(shop: World) -> None:
    named = (*LEAN, "FOO", "OPENAI_API_KEY")
    shop.oracle = shop.make_oracle(model_variables=named, **USERS, **KEYS)
    now, began_with = await seen(shop, origin="model")
    assert now == {"FOO": "bar-of-the-user", "LC_TIME": "C", "TZ": "UTC"}
    assert began_with.isdisjoint({"DATABASE_PASSWORD", *KEYS})


@pytest.mark.parametrize("rung", [Rung.COLD, Rung.WARM, Rung.HOT])
async def test_what_a_model_wrote_is_not_run_unconfined_before_the_user_allows_it(
    shop: World, tmp_path: Path, rung: Rung
) -> None:
    mark = tmp_path / "mark"
    harmful = f"open({str(mark)!r}, 'w').close()\ndef seen():\n    return '[]'\n"
    unconfined: dict[str, Any] = {"REGREEN_NO_CONFINEMENT": "1"}
    shop.oracle = shop.make_oracle(model_variables=tuple(LEAN), **unconfined)
    report = await patched(shop, harmful, rung=rung, origin="model")
    assert "regreen.isolation.unconfinedModels" in report.refused
    assert report.outcomes == {}
    requests = [RunRequest(await shop.mirror.sync({}), ("test_it.py",), origin="model")] * 2
    overlay = {shop.root / "shop.py": harmful.encode()}
    assert await shop.oracle.screen([replace(one, overlay=overlay) for one in requests]) == [None, None]
    assert not mark.exists()
    assert (await patched(shop, harmful, rung=rung)).outcomes  # a template's is
    mark.unlink()
    await shop.oracle.close()
    shop.oracle = shop.make_oracle(unconfined_models=True, model_variables=tuple(LEAN), **unconfined)
    report = await patched(shop, harmful, rung=rung, origin="model")
    assert report.refused == ""
    assert mark.exists()


async def test_what_is_screened_together_keeps_its_own_environment(shop: World) -> None:
    shop.oracle = shop.make_oracle(model_variables=tuple(LEAN), **USERS)
    shop.write(test_it="import shop\n\ndef test_it():\n    assert shop.seen() == 'bar-of-the-user'\n")
    text = "def seen():\n    import os\n    return os.environ.get('FOO', '') + %r\n"
    snapshot = await shop.mirror.sync({})
    requests = [
        RunRequest(
            snapshot,
            ("test_it.py::test_it",),
            overlay={shop.root / "shop.py": (text % end).encode()},
            origin=origin,
            details=False,
        )
        for end in ("", "!")
        for origin in ("template", "model")
    ]
    reports = await shop.oracle.screen(requests)
    assert [report is None or len(report.failures) for report in reports] == [True, 1, 1, 1]
