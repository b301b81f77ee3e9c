"""Do the files stay here that must, by name, by rule, by git and by where they really are?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regreen.llm.excluded import exclusions

ROOT_USER = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def why(root: Path, name: str, ignored: frozenset[Path] = frozenset()) -> str:
    return exclusions(root, ignored)(root / name)


@pytest.mark.parametrize(
    "name", ["shop.py", "a/b/c.py", "tests/test_credentials.py", "keys.py", "environment.py"]
)
def test_ordinary_files_may_be_sent(root: Path, name: str) -> None:
    write(root, {name: "", ".regreenignore": "*.csv\n"})
    assert why(root, name) == ""


@pytest.mark.parametrize(
    "name",
    [
        *(".env", ".env.local", ".ENV", "prod.env", "a/server.pem", "a/server.key", "id_rsa", "id_ed25519.pub"),
        *("id_ed25519_sk", "x.p12", "x.PFX", "x.kdbx", "credentials", "credentials.json", "Credentials.py"),
        *("secrets.py", "secrets.yaml", "secrets/a.py", "a/secrets/b/c.py", ".netrc", ".pypirc", ".npmrc"),
        *("terraform.tfstate", "terraform.tfstate.backup", ".git/config", "sub/.git", ".aws/config"),
    ],
)  # fmt: skip
def test_names_that_secrets_are_kept_under_stay_whatever_the_project_says(root: Path, name: str) -> None:
    everything = "!*\n!**/*\n!secrets.py\n!.env\n"
    write(root, {".regreenignore": everything, name: ""})
    folder = (root / name).parent
    if folder != root:
        (folder / ".regreenignore").write_text(everything)
    assert why(root, name)


def test_the_reason_for_a_module_says_that_only_its_name_can_be_changed(root: Path) -> None:
    assert why(root, "shop/secrets.py") == (
        "the name secrets.py is one that secrets are kept under (secrets.*), and nothing in a project can allow it;"
        " rename it if it holds none"
    )


def test_the_reason_names_the_file_and_the_line(root: Path) -> None:
    write(root, {"a/.regreenignore": "# ours\n\n\n*.md\r\npri*.py\n", "a/b/private.py": ""})
    assert why(root, "a/b/private.py") == "a/.regreenignore names it (pri*.py)"
    assert why(root, "private.py") == ""


def test_the_nearest_file_wins_and_the_last_line_within_it(root: Path) -> None:
    write(
        root,
        {
            ".regreenignore": "*.py\n!a.py\n",
            "in/.regreenignore": "a.py\n!b.py\n",
            "shut/.regreenignore": "",
        },
    )
    judge = exclusions(root, frozenset())
    assert [bool(judge(root / name)) for name in ("a.py", "b.py", "in/a.py", "in/b.py", "in/c.py", "shut/b.py")] == [
        *(False, True, True, False, True, True)
    ]  # fmt: skip


def test_nothing_below_an_excluded_folder_is_let_in_again(root: Path) -> None:
    write(root, {".regreenignore": "/shut/\n!shut/a.py\n", "shut/.regreenignore": "!*\n", "shut/a.py": ""})
    assert why(root, "shut/a.py")


def test_what_git_ignores_stays_and_no_rule_takes_that_back(root: Path) -> None:
    write(root, {".regreenignore": "!*\n", "local.py": "", "build/x.py": ""})
    ignored = frozenset({root / "local.py", root / "build"})
    assert why(root, "local.py", ignored) == why(root, "build/x.py", ignored) == "git ignores it"
    assert why(root, "shop.py", ignored) == ""


@pytest.mark.parametrize("name", ["../other.py", "a/../../other.py", "/etc/passwd", "."])
def test_what_lies_outside_of_the_project_stays(root: Path, name: str) -> None:
    assert why(root, name) == "it lies outside of the project"
    assert exclusions(root, frozenset())(Path("shop.py")) == "it lies outside of the project"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_is_judged_by_what_it_leads_to(root: Path, tmp_path: Path) -> None:
    write(root, {".env": "", "a.py": "", "local.py": "", "own.py": "", ".regreenignore": "own.py"})
    write(tmp_path, {"outside.py": ""})
    targets = {"1": ".env", "2": "a.py", "3": "local.py", "4": "own.py", "5": "../outside.py", "6": "6.py"}
    for name, target in targets.items():
        (root / f"{name}.py").symlink_to(target)
    (root / "folder").symlink_to(tmp_path, target_is_directory=True)
    judge = exclusions(root, frozenset({root / "local.py"}))
    assert {name: bool(judge(root / f"{name}.py")) for name in targets} == {
        **dict.fromkeys("1345", True),
        **dict.fromkeys("26", False),
    }
    assert judge(root / "3.py") == "it leads to a file about which holds: git ignores it"
    assert judge(root / "folder" / "outside.py") == "it lies outside of the project"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_root_reached_through_a_link_changes_nothing(root: Path, tmp_path: Path) -> None:
    write(root, {"a.py": "", "b.py": "", "c.py": "", ".regreenignore": "b.py"})
    linked = tmp_path / "linked"
    linked.symlink_to(root, target_is_directory=True)
    judge = exclusions(linked, frozenset({linked / "c.py"}))
    assert [bool(judge(at / name)) for at in (linked, root) for name in ("a.py", "b.py", "c.py")] == [
        *(False, True, True) * 2
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"caf\xe9\n", "in/.regreenignore is not UTF-8, so nothing beside it is sent: save it as UTF-8"),
        (b"ok.py\n!\n", "in/.regreenignore makes no sense"),
    ],
)
def test_a_file_of_rules_that_makes_no_sense_keeps_everything_beside_it(
    root: Path, content: bytes, said: str
) -> None:
    write(root, {"in/.regreenignore": content})
    judge = exclusions(root, frozenset())
    assert judge(root / "in" / "deep" / "a.py").startswith(said)
    assert judge(root / "a.py") == ""


def test_a_folder_in_the_place_of_the_rules_keeps_everything_beside_it(root: Path) -> None:
    (root / "in" / ".regreenignore").mkdir(parents=True)
    assert (
        why(root, "in/a.py")
        == "in/.regreenignore is no file that could be read, so nothing beside it is sent"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders there")
def test_a_pipe_in_the_place_of_the_rules_is_not_waited_for(root: Path) -> None:
    os.mkfifo(root / ".regreenignore")
    assert why(root, "a.py")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_rules_that_lead_nowhere_keep_everything_beside_them(root: Path) -> None:
    (root / ".regreenignore").symlink_to("missing")
    assert why(root, "a.py").startswith(".regreenignore cannot be read (No such file or directory)")


@pytest.mark.skipif(sys.platform == "win32" or ROOT_USER, reason="needs a folder that its owner may not list")
def test_what_cannot_be_listed_stays(root: Path) -> None:
    write(root, {"in/a.py": ""})
    (root / "in").chmod(0o100)
    try:
        assert why(root, "in/a.py").startswith("the folder in cannot be listed")
    finally:
        (root / "in").chmod(0o700)


def test_environments_and_packages_of_others_are_not_searched_and_stay(root: Path) -> None:
    write(root, {"venv/pyvenv.cfg": "", "venv/lib/a.py": "", "node_modules/gyp/a.py": "", "a.py": ""})
    judge = exclusions(root, frozenset())
    assert judge(root / "venv/lib/a.py") == "venv is a Python environment"
    assert judge(root / "node_modules/gyp/a.py") == "node_modules holds packages of another language"
    write(root, {"pyvenv.cfg": ""})
    assert why(root, "a.py") == ""


PATTERNS = st.lists(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "", "/", "**/"]),
        st.lists(st.sampled_from(["a", "b", "*", "a*", "?", "[ab]", "**"]), min_size=1, max_size=3).map(
            "/".join
        ),
        st.sampled_from(["", "", "/"]),
    ),
    max_size=4,
)
FILES = [f"{x}{y}{z}" for x in ("", "a/", "b/") for y in ("", "a/", "ab/") for z in ("a.py", "b.py")]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(top=PATTERNS, inner=PATTERNS)
def test_rules_keep_what_git_would_ignore(tmp_path: Path, top: list[str], inner: list[str]) -> None:
    root = tmp_path / "compared"
    for name in (".gitignore", ".regreenignore"):
        write(root, {name: "\n".join(top), f"a/{name}": "\n".join(inner), **dict.fromkeys(FILES, "")})
    subprocess.run(["git", "init", "-q", root], check=True)
    answer = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=root,
        input="\n".join(FILES),
        capture_output=True,
        text=True,
        check=False,
    )
    judge = exclusions(root, frozenset())
    ours = {name for name in FILES if judge(root / name)}
    assert set(answer.stdout.split()) == ours
