"""Which files never reach a model, whatever else is set?"""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.llm.excluded import exclusions


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    "name",
    [
        ".env", ".env.local", "deploy/prod.env", "keys/server.pem", "id_rsa", "home/id_ed25519.pub", "a.key", "store.p12",
        "vault.kdbx", "credentials", "aws/credentials.json", "secrets.py", "secrets/db.py", ".netrc", ".pypirc", ".npmrc",
        "infra/terraform.tfstate", ".git/config", "my-credentials-prod.json", ".aws/config",
    ],
)  # fmt: skip
def test_files_that_hold_secrets_by_their_names_are_never_sent(tmp_path: Path, name: str) -> None:
    write(
        tmp_path, {".regreenignore": f"!{name}\n!*\n", name: "x = 1\n"}
    )  # nothing in a repository allows it
    assert exclusions(tmp_path, frozenset())(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["cart.py", "environment.py", "keys.py", "src/secretary.py", "monkey.py", "token.py"]
)
def test_other_code_is_sent(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "x = 1\n"})
    assert exclusions(tmp_path, frozenset())(tmp_path / name) == ""


def test_regreenignore_speaks_the_language_of_gitignore_and_the_nearest_has_the_last_word(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        {
            ".regreenignore": "# private\nbilling/**\n!billing/public.py\n/top.py\n",
            "billing/.regreenignore": "!rates.py\n",
            "billing/rates.py": "",
            "billing/public.py": "",
            "billing/other.py": "",
            "top.py": "",
            "inner/top.py": "",
        },
    )
    why_not = exclusions(tmp_path, frozenset())
    sent = {name for name in ("billing/rates.py", "billing/public.py", "billing/other.py", "top.py", "inner/top.py")
            if not why_not(tmp_path / name)}  # fmt: skip
    assert sent == {"billing/rates.py", "billing/public.py", "inner/top.py"}
    assert why_not(tmp_path / "top.py") == ".regreenignore names it"


def test_what_git_ignores_is_not_sent(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "b.py": ""})
    why_not = exclusions(tmp_path, frozenset({tmp_path / "a.py"}))
    assert (why_not(tmp_path / "a.py"), why_not(tmp_path / "b.py")) == ("git ignores it", "")


def test_a_list_that_cannot_be_read_excludes_all_beside_it(tmp_path: Path) -> None:
    write(tmp_path, {"private/a.py": "", "b.py": ""})
    (tmp_path / "private" / ".regreenignore").write_bytes(b"\xff\xfe\xff")
    why_not = exclusions(tmp_path, frozenset())
    assert "cannot be read" in why_not(tmp_path / "private" / "a.py")
    assert why_not(tmp_path / "b.py") == ""


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    root, outside = tmp_path / "p", tmp_path / "o"
    write(root, {"secrets/db.py": "", "a.py": ""})
    write(outside, {"x.py": ""})
    (root / "innocent.py").symlink_to(root / "secrets" / "db.py")
    (root / "elsewhere.py").symlink_to(outside / "x.py")
    (root / "same.py").symlink_to(root / "a.py")
    why_not = exclusions(root, frozenset())
    assert why_not(root / "innocent.py") == "files of this name hold secrets"
    assert why_not(root / "elsewhere.py") == "it leads out of the project"
    assert why_not(root / "same.py") == ""


def test_a_project_below_a_linked_folder_is_still_inside(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.py": ""})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert exclusions(tmp_path / "link", frozenset())(tmp_path / "link" / "a.py") == ""


@pytest.mark.parametrize("path", ["../x.py", "a/../../x.py"])
def test_nothing_outside_of_the_project_is_sent(tmp_path: Path, path: str) -> None:
    root = write(tmp_path / "p", {"a/b.py": ""})
    assert exclusions(root, frozenset())(root / path)
