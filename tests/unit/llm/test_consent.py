"""Is consent given by a person only, for one folder, model and address, and taken back whole?"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from regreen.errors import EnvironmentProblem
from regreen.llm.consent import ConsentStore

MODEL, ADDRESS = "anthropic/some", "api.anthropic.com"


@pytest.fixture
def store(tmp_path: Path) -> ConsentStore:
    return ConsentStore(tmp_path / "state" / "consent.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "code" / "shop"
    (path / "inner").mkdir(parents=True)
    return path


def test_nobody_agreed_at_first_and_asking_writes_nothing(store: ConsentStore, folder: Path) -> None:
    assert store.answer(folder, MODEL, ADDRESS) == ""
    assert store.given() == ()
    assert not store.file.parent.exists()


def test_consent_is_for_this_folder_model_and_address_only(store: ConsentStore, folder: Path) -> None:
    store.allow(folder, MODEL, ADDRESS)
    assert store.answer(folder, MODEL, ADDRESS) == "allowed"
    assert store.answer(folder / "inner" / "..", MODEL, ADDRESS) == "allowed"
    assert store.answer(folder / "inner", MODEL, ADDRESS) == ""
    assert store.answer(folder.parent, MODEL, ADDRESS) == ""
    assert store.answer(folder, "anthropic/other", ADDRESS) == ""
    assert store.answer(folder, MODEL, "proxy.example.org") == ""


def test_never_in_this_folder_holds_for_every_model_and_inside(store: ConsentStore, folder: Path) -> None:
    store.allow(folder / "inner", MODEL, ADDRESS)
    store.allow(folder, MODEL, ADDRESS)
    store.refuse(folder, "openai/x", "api.openai.com")
    assert store.answer(folder, MODEL, ADDRESS) == "refused"
    assert store.answer(folder, "gguf:/m", "") == "refused"
    assert store.answer(folder / "inner", MODEL, ADDRESS) == "refused"
    assert store.answer(folder.parent, MODEL, ADDRESS) == ""


def test_a_later_consent_takes_the_refusal_back(store: ConsentStore, folder: Path) -> None:
    store.refuse(folder)
    store.allow(folder, MODEL, ADDRESS)
    assert store.answer(folder, MODEL, ADDRESS) == "allowed"
    assert [one.answer for one in store.given()] == ["allowed"]


def test_what_is_revoked_is_asked_again(store: ConsentStore, folder: Path) -> None:
    store.allow(folder, MODEL, ADDRESS)
    store.allow(folder, "openai/x", "api.openai.com")
    store.allow(folder / "inner", MODEL, ADDRESS)
    assert [one.model for one in store.revoke(folder)] == [MODEL, "openai/x"]
    assert store.revoke(folder) == ()
    assert store.answer(folder, MODEL, ADDRESS) == ""
    assert store.answer(folder / "inner", MODEL, ADDRESS) == "allowed"


def test_a_link_does_not_lend_the_consent_of_another_folder(
    store: ConsentStore, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(folder)
    store.allow(tmp_path / "link", MODEL, ADDRESS)
    assert store.answer(folder, MODEL, ADDRESS) == "allowed"
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(folder / "inner")
    assert store.answer(tmp_path / "link", MODEL, ADDRESS) == ""


def test_the_file_is_the_users_own(store: ConsentStore, folder: Path) -> None:
    store.allow(folder, MODEL, ADDRESS)
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"consents": {}}',
        '{"consents": [1]}',
        '{"consents": [{"folder": "/"}]}',
        '{"consents": [{"folder": "/", "model": "m", "address": "", "answer": "yes", "at": ""}]}',
    ],
)
def test_a_damaged_store_says_so_and_allows_nothing(store: ConsentStore, folder: Path, text: str) -> None:
    store.file.parent.mkdir()
    store.file.write_text(text)
    for question in (
        lambda: store.answer(folder, MODEL, ADDRESS),
        lambda: store.allow(folder, MODEL, ADDRESS),
        lambda: store.revoke(folder),
        store.given,
    ):
        with pytest.raises(EnvironmentProblem, match="is damaged"):
            question()
    assert store.file.read_text() == text


def test_processes_that_answer_at_once_lose_nothing(store: ConsentStore, folder: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from regreen.llm.consent import ConsentStore\n"
        "for number in range(10):\n"
        "    ConsentStore(Path(sys.argv[1])).allow(Path(sys.argv[2]), f'{sys.argv[3]}{number}', '')\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(store.file), str(folder), name], env=os.environ)
        for name in "ab"
    ]
    assert [one.wait() for one in started] == [0, 0]
    assert len(store.given()) == 20
    assert json.loads(store.file.read_text())["v"] == 1
