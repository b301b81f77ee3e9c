from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen import settings
from regreen.settings import SCHEMA, Settings, generated, merge, services

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("values", [{"autoHeal.onSave": True}, {"autoHeal": {"onSave": True}}])
def test_dotted_and_nested_keys_mean_the_same(values: dict[str, Any]) -> None:
    merged, complaints = merge(Settings(), values, from_repository=False)
    assert merged == Settings(auto_heal_on_save=True)
    assert complaints == ()


def test_every_default_of_the_schema_is_the_dataclass_default_and_is_accepted() -> None:
    merged, complaints = merge(Settings(), generated.defaults_tree(), from_repository=False)
    assert (merged, complaints) == (Settings(), ())


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"heal": {"maxSecond": 5}}, "There is no setting `regreen.heal.maxSecond`; it is ignored."),
        ({"heal.maxSeconds": "5"}, '`regreen.heal.maxSeconds` must be a number; "5" is ignored.'),
        ({"heal.maxSeconds": True}, "`regreen.heal.maxSeconds` must be a number; true is ignored."),
        ({"heal.maxSeconds": 0}, "`regreen.heal.maxSeconds` must be at least 1; 0 is ignored."),
        ({"heal.maxSeconds": float("nan")}, "`regreen.heal.maxSeconds` must be at least 1; NaN is ignored."),
        ({"heal.offers": 4}, "`regreen.heal.offers` must be at most 3; 4 is ignored."),
        ({"heal.offers": 1.5}, "`regreen.heal.offers` must be a whole number; 1.5 is ignored."),
        ({"runTests": "always"}, '`regreen.runTests` must be "manual" or "onSave"; "always" is ignored.'),
        ({"tests.never": "x"}, '`regreen.tests.never` must be a list of texts; "x" is ignored.'),
        ({"tests.never": [1]}, "`regreen.tests.never` must be a list of texts; [1] is ignored."),
        (
            {"isolation.services": ["5432", "db:5432"]},
            "`regreen.isolation.services` must name services of this machine ('db' is neither localhost nor a",
        ),
        ({"enable": {"a": 1}}, '`regreen.enable` must be true or false; {"a": 1} is ignored.'),
    ],
)
def test_a_value_that_cannot_be_used_is_named_in_one_sentence(values: dict[str, Any], sentence: str) -> None:
    merged, complaints = merge(Settings(), values, from_repository=False)
    assert merged == Settings()
    assert len(complaints) == 1
    assert complaints[0].startswith(sentence)


def test_a_misspelt_key_is_answered_with_the_nearest_one() -> None:
    _, (complaint,) = merge(Settings(), {"autoHeal.onsave": True}, from_repository=False)
    assert complaint.endswith("Did you mean `regreen.autoHeal.onSave`?")


@pytest.mark.parametrize(
    "values",
    [
        {"interpreter": "/bin/evil"},
        {"envFile": ".env"},
        {"mirror.maxGigabytes": 1},
        {"isolation": {"services": ["5432"]}},
    ],
)
def test_a_repository_never_sets_what_is_not_its_own(values: dict[str, Any]) -> None:
    merged, (complaint,) = merge(Settings(), values, from_repository=True)
    assert merged == Settings()
    assert "cannot be set by a file in the repository" in complaint


@pytest.mark.parametrize(
    ("key", "tighter", "looser"),
    [
        ("enable", False, None),
        ("runTests", "manual", None),
        ("autoHeal.onSave", False, True),
        ("heal.maxSeconds", 5, 600),
        ("heal.maxCandidates", 10, 10_000),
        ("heal.offers", 1, None),
        ("tests.secondsPerTest", 1, 300),
        ("mirror.maxFileMegabytes", 1, 500),
    ],
)
def test_a_repository_may_only_restrict(key: str, tighter: Any, looser: Any) -> None:
    field = next(s.field for s in SCHEMA if s.key == key)
    merged, complaints = merge(Settings(), {key: tighter}, from_repository=True)
    assert getattr(merged, field) == tighter
    assert complaints == ()
    if looser is not None:
        merged, (complaint,) = merge(Settings(), {key: looser}, from_repository=True)
        assert merged == Settings()
        assert "can only be restricted" in complaint


def test_a_repository_cannot_lift_what_is_already_restricted() -> None:
    merged, complaints = merge(Settings(run_tests="manual"), {"runTests": "onSave"}, from_repository=True)
    assert merged.run_tests == "manual"
    assert len(complaints) == 1


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([s.key for s in SCHEMA]) | st.text(max_size=8), _json), st.booleans())
def test_no_json_value_breaks_the_merge_or_its_bounds(values: dict[str, Any], from_repository: bool) -> None:
    merged, complaints = merge(Settings(), values, from_repository=from_repository)
    assert all(isinstance(sentence, str) and sentence.endswith((".", "?")) for sentence in complaints)
    assert 1 <= merged.heal_seconds <= 3600
    assert merged.run_tests in {"manual", "onSave"}
    assert all(isinstance(item, str) for item in merged.tests_never)


def test_a_clients_default_is_not_a_choice() -> None:
    values = {"runTests": "onSave", "heal": {"maxSeconds": 60, "offers": 1}, "bogus": 1}
    assert settings.without_defaults(values) == {"heal.offers": 1, "bogus": 1}


def test_the_table_of_a_pyproject_is_found_and_a_broken_file_is_one_sentence() -> None:
    assert settings.from_pyproject("[tool.regreen]\nrunTests = 'manual'\n") == ({"runTests": "manual"}, "")
    assert settings.from_pyproject("[project]\nname = 'x'\n") == ({}, "")
    assert settings.from_pyproject("[tool\n")[1].startswith("pyproject.toml cannot be read")
    assert settings.from_pyproject("tool = 3\n")[1] != ""
    assert settings.from_pyproject("[tool]\nregreen = 3\n")[1] != ""


def test_the_manifest_of_the_extension_holds_exactly_the_schema() -> None:
    manifest = json.loads((ROOT / "package.json").read_text("utf-8"))
    groups = manifest["contributes"]["configuration"]
    assert groups == generated.vscode_configuration()
    shown = [name for group in groups for name in group["properties"]]
    only = {f"regreen.{key}" for key in generated.VSCODE_ONLY}
    assert sorted(shown) == sorted({f"regreen.{setting.key}" for setting in SCHEMA} | only), (
        "in one group each"
    )


def test_the_page_of_settings_holds_exactly_the_schema() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert generated.markdown_table() in page
    assert generated.neovim_snippet() in page
    assert generated.helix_snippet() in page


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5432", ("localhost", 5432)),
        ("localhost:6379", ("localhost", 6379)),
        ("127.0.0.1:1", ("127.0.0.1", 1)),
        ("127.0.1.1:65535", ("127.0.1.1", 65535)),
        ("[::1]:5432", ("::1", 5432)),
    ],
)
def test_a_service_is_named_by_its_port_or_address(text: str, found: tuple[str, int]) -> None:
    assert services.named([text, text]) == services.Services((found,))
    assert services.named([services.text_of(*found)]).addresses == (found,)


def test_a_service_is_named_by_the_path_of_its_socket() -> None:
    path = "/run/postgresql/.s.PGSQL.5432"
    assert services.named([path, "1"]) == services.Services((("localhost", 1),), (path,))


@pytest.mark.parametrize(
    "text",
    ["", ":1", "0", "65536", "-1", "x", "db:5432", "10.0.0.1:5432", "0.0.0.0:1", "::1:5432", "[::2]:1", "[localhost]:1x",
     "postgresql.sock", "~/sock", "http://localhost:1"],
)  # fmt: skip
def test_what_is_no_service_of_this_machine_is_refused(text: str) -> None:
    assert services.problem([text])


@pytest.mark.parametrize(
    ("host", "text"), [("0.0.0.0", "127.0.0.1:1"), ("::", "[::1]:1"), ("db", ""), ("192.168.1.5", "")]
)
def test_an_address_that_was_called_is_written_as_the_setting_has_it(host: str, text: str) -> None:
    assert services.text_of(host, 1) == text
