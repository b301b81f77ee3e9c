"""Do the arguments of `regreen heal` mean what their writer means?"""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.terminal.targets import Target, from_junit, from_last_failed, resolve, workspace_of

PYTEST = "[tool.pytest.ini_options]\n"


def tree(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return tree(
        tmp_path / "shop",
        pyproject_dot_toml=PYTEST,
        tests__test_cart_dot_py="def test_a(): pass",
        tests__deep__test_b_dot_py="def test_b(): pass",
    )


def meant(targets: tuple[Target, ...]) -> list[tuple[Path, tuple[str, ...]]]:
    return [(target.project.root, target.nodeids) for target in targets]


def test_no_argument_is_the_project_around(shop: Path) -> None:
    assert meant(resolve([], shop)) == [(shop, ())]


def test_a_folder_is_its_project(shop: Path) -> None:
    assert meant(resolve(["shop"], shop.parent)) == [(shop, ())]


@pytest.mark.parametrize(
    ("argument", "nodeid"),
    [
        ("tests/test_cart.py", "tests/test_cart.py"),
        ("tests/test_cart.py::TestX::test_a[x::y]", "tests/test_cart.py::TestX::test_a[x::y]"),
        ("tests/deep", "tests/deep"),
        ("./tests/deep/../deep/", "tests/deep"),
    ],
)
def test_what_lies_inside_of_a_project_is_relative_to_its_root(
    shop: Path, argument: str, nodeid: str
) -> None:
    (shop / ".git").mkdir()
    assert meant(resolve([argument], shop)) == [(shop, (nodeid,))]


def test_node_ids_may_be_relative_to_the_folder_where_the_shell_is(shop: Path) -> None:
    (shop / ".git").mkdir()
    assert meant(resolve(["test_b.py::test_b"], shop / "tests/deep")) == [
        (shop, ("tests/deep/test_b.py::test_b",))
    ]


def test_node_ids_may_be_relative_to_a_folder_given_before(shop: Path) -> None:
    assert meant(resolve(["shop", "tests/test_cart.py::test_a"], shop.parent)) == [
        (shop, ("tests/test_cart.py::test_a",))
    ]


def test_a_folder_of_projects_is_all_of_them(tmp_path: Path) -> None:
    tree(tmp_path, a__pyproject_dot_toml=PYTEST, b__pytest_dot_ini="[pytest]", docs__readme="")
    assert meant(resolve([], tmp_path)) == [(tmp_path / "a", ()), (tmp_path / "b", ())]


def test_a_plain_folder_with_tests_is_a_project(tmp_path: Path) -> None:
    tree(tmp_path, test_a_dot_py="def test_a(): pass")
    assert meant(resolve([], tmp_path)) == [(tmp_path, ())]


def test_several_arguments_of_one_project_are_one_target(shop: Path) -> None:
    (shop / ".git").mkdir()
    [target] = resolve(["tests/test_cart.py", "tests/deep", "tests/deep"], shop)
    assert target.nodeids == ("tests/test_cart.py", "tests/deep")


@pytest.mark.parametrize("argument", ["nothing", "tests/nothing.py::test_a", "tests::test_a"])
def test_an_argument_that_names_nothing_is_an_error(shop: Path, argument: str) -> None:
    with pytest.raises(UsageError, match=argument.split("::", maxsplit=1)[0]):
        resolve([argument], shop)


def test_the_workspace_is_the_git_work_tree(shop: Path) -> None:
    (shop.parent / ".git").write_text("gitdir: elsewhere")  # a work tree made by `git worktree add`
    assert workspace_of(shop / "tests") == shop.parent
    assert workspace_of(shop / "tests/test_cart.py") == shop.parent


def test_last_failed_keeps_to_the_arguments_and_the_configured_cache(shop: Path) -> None:
    (shop / "pyproject.toml").write_text(PYTEST + 'cache_dir = "out/cache"\n')
    tree(
        shop,
        out__cache__v__cache__lastfailed='{"tests/test_cart.py::test_a": true, "tests/deep/test_b.py::test_b[1]": true}',
    )
    (shop / ".git").mkdir()
    [everything] = resolve([], shop)
    [part] = resolve(["tests/deep"], shop)
    [one] = resolve(["tests/deep/test_b.py::test_b"], shop)
    assert len(from_last_failed(everything).nodeids) == 2
    for narrow in (part, one):
        assert from_last_failed(narrow).nodeids == ("tests/deep/test_b.py::test_b[1]",)


def test_a_report_keeps_to_the_arguments(shop: Path) -> None:
    (shop / "r.xml").write_text(
        "<testsuites><testsuite>"
        '<testcase classname="tests.test_cart" name="test_a"><failure/></testcase>'
        '<testcase classname="tests.deep.test_b" name="test_b"><failure/></testcase>'
        "</testsuite></testsuites>"
    )
    (shop / ".git").mkdir()
    [part] = resolve(["tests/deep"], shop)
    assert from_junit(part, shop / "r.xml").nodeids == ("tests/deep/test_b.py::test_b",)
