"""Whatever a model answers, nothing but a patch that is proven is offered, and the heal goes on after any other."""

from __future__ import annotations

import pytest
from tests.cli.commands import tree
from tests.models.heals import OTHERS, RIGHT, Week, search

from regreen.llm.placeholders import placeholder

RETURN = "    return NAMES[number]"

HOSTILE = {
    "skips the test": (search(RETURN, "    import pytest\n    pytest.skip('later')"), {"REJECTED", "TAMPERED"}),
    "edits the test": (search('    assert weekday(7) == "Sun"', "    pass", "test_days.py"), {"not-allowed"}),
    "edits conftest": ("FUNCTION: conftest.py::pytest_configure\n```python\ndef pytest_configure(config):\n    pass\n```\n", {"not-allowed", "no-such-function"}),
    "edits configuration": (search('pythonpath = ["."]', 'addopts = "-k nothing"', "pyproject.toml"), {"no-such-file", "not-allowed"}),
    "ends the process": (search(RETURN, "    import os\n    os._exit(0)"), {"REJECTED", "CRASH"}),
    "ends the session": (search(RETURN, "    import sys\n    sys.exit(0)"), {"REJECTED", "CRASH", "STILL_FAILING"}),
    "answers by heart": (search(RETURN, '    if number == 1:\n        return "Mon"\n    if number == 7:\n        return "Sun"\n    return NAMES[number]'), {"REJECTED"}),
    "swallows the failure": (search(RETURN, "    try:\n        return NAMES[number]\n    except AssertionError:\n        return None"), {"REJECTED", "STILL_FAILING"}),
    "is equal to anything": (search(RETURN, "    class Any(str):\n        def __eq__(self, other):\n            return True\n        __hash__ = str.__hash__\n    return Any()"), {"REJECTED", "TAMPERED"}),
    "deletes a file": (search(RETURN, "    import os\n    os.unlink('test_days.py')\n    return NAMES[number - 1]"), {"REJECTED"}),
    "leaves code out": ("FUNCTION: days.py::weekday\n```python\ndef weekday(number):\n    # ... existing code ...\n    return NAMES[number - 1]\n```\n", {"elided"}),
    "takes a function away": (search("def weekend():\n    return NAMES[5:]", "weekday_ = weekday"), {"lost-names"}),
    "writes outside": (search("a", "b", "../elsewhere.py"), {"not-allowed", "no-such-file"}),
    "only talks": ("The index is off by one; subtract one.", {"no-block"}),
    "writes no Python": (search(RETURN, "    return NAMES[number - ]"), {"not-python"}),
    "changes nothing": (search(RETURN, RETURN), {"unchanged"}),
    "quotes what is not there": (search("    return DAYS[number]", "    return DAYS[number - 1]"), {"no-match"}),
    "writes back what was masked": (search(RETURN, f"    key = '{placeholder('AWS key', 1)}'\n    return NAMES[number - 1]"), {"masked-text"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_refused_by_name_and_the_next_round_may_still_heal(days: Week, name: str) -> None:
    answer, expected = HOSTILE[name]
    before = tree(days.root)
    # Twice: a reply that is no patch is asked for once more within its round.
    healed = days.heal(days.script(answer, answer, RIGHT, RIGHT))
    rounds = {one["number"]: one for one in days.rounds(healed)}
    assert rounds[1]["attempts"][0]["verdict"] in expected, rounds[1]["attempts"]
    assert healed.result["outcome"] == "VERIFIED", healed.result
    assert "NAMES[number - 1]" in healed.result["diff"]
    assert len([line for line in healed.result["diff"].splitlines() if line.startswith("+")]) == 2
    assert tree(days.root) == before


def test_a_lazy_answer_that_is_cut_off_is_refused_by_name(days: Week) -> None:
    cut = {"problem": "truncated", "text": "FILE: days.py\n<<<<<<< SEARCH\n    return NAM"}
    healed = days.heal(days.script(cut, cut, RIGHT))
    rounds = {one["number"]: one for one in days.rounds(healed)}
    assert rounds[1]["attempts"][0]["verdict"] == "truncated"
    assert rounds[1]["attempts"][0]["degraded"]
    assert healed.result["outcome"] == "VERIFIED"


def test_the_critic_is_heard_only_when_its_example_shows_what_it_says(days: Week) -> None:
    wrong = '{"verdict": "reject", "confidence": 0.9, "issue": "Sunday is wrong.", "counter_example": {"code": "from days import weekday\\nweekday(7)", "expected": "\'Sat\'"}}'
    right = '{"verdict": "reject", "confidence": 0.9, "issue": "Sunday is wrong.", "counter_example": {"code": "from days import weekday\\nweekday(7)", "expected": "\'Sun\'"}}'
    unsure = wrong.replace("0.9", "0.6")
    for said, flagged in ((wrong, True), (right, False), (unsure, False)):
        critic = [{"role": "critic", "text": said, "repeat": True}, *OTHERS[1:]]
        healed = days.heal(days.script({"text": RIGHT, "repeat": True}, others=critic))
        assert healed.result["outcome"] == "VERIFIED", healed.result
        texts = [flag["text"] for flag in healed.result["flags"]]
        assert bool(texts) is flagged, (said, texts)
        if flagged:
            assert "the model itself doubts it: Sunday is wrong." in texts[0]
            assert "gives 'Sun', not 'Sat'" in texts[0]


def test_what_a_patch_does_beyond_need_is_left_out_of_the_fix(days: Week) -> None:
    large = search(RETURN, "    return NAMES[number - 1]") + search(
        "    return NAMES[5:]", "    return list(NAMES[5:])"
    )
    healed = days.heal(days.script(large))
    assert healed.result["outcome"] == "VERIFIED"
    assert "list(" not in healed.result["diff"]


def test_the_tournament_takes_the_patch_that_passes(days: Week) -> None:
    patches = [
        {"when": "Strategy: minimal", "text": search(RETURN, "    return NAMES[number - 2]"), "repeat": True},
        {"when": "Strategy: restructure", "text": 'FUNCTION: days.py::weekday\n```python\ndef weekday(number):\n    """Name a day, 1 for Monday."""\n    return NAMES[(number - 1) % 7]\n```\n', "repeat": True},
        {"when": "Strategy: guard", "text": "Nothing to guard.", "repeat": True},
    ]  # fmt: skip
    healed = days.heal(days.script(*patches), "--set", "llm.strategies=3")
    assert healed.result["outcome"] == "VERIFIED"
    assert "(number - 1) % 7" in healed.result["diff"]
    assert {one["template"] for one in healed.candidates} == {"model.minimal", "model.restructure"}
