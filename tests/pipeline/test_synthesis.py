"""What no template writes is computed from the values that functions saw: before → failing test → after."""

from __future__ import annotations

import pytest

from regreen.values import Outcome

from .lab import Lab, only

GUARD = (
    """
    def kept(numbers, start, skip):
        out = []
        for number in numbers:
            out.append(number + start)
        return out
    """,
    """
    from shop import kept

    def test_skips():
        assert kept([1, 5, 7], 10, 5) == [11, 17]
        assert kept([3, 9, 2], 20, 9) == [23, 22]

    def test_has_nothing_to_skip():
        assert kept([5, 3], 20, 4) == [25, 23]
    """,
    ("if number == skip:\n            continue\n        out.append(number + start)",),
)
FILTER = (
    """
    def longer(words, shortest):
        return [word for word in words if word]
    """,
    """
    from shop import longer

    def test_some():
        assert longer(["fig", "melon", "kiwi"], 3) == ["melon", "kiwi"]
        assert longer(["a", "plums"], 2) == ["plums"]

    def test_all():
        assert longer(["figs"], 2) == ["figs"]
    """,
    ("if len(word) > shortest]",),
)
FORMULA = (
    """
    def area(width, height, border):
        return width + height
    """,
    """
    from shop import area

    def test_area():
        assert area(0, 0, 0) == 0
        assert area(7, 3, 5) == 26
        assert area(2, 11, 1) == 23
    """,
    ("border + width * height", "width * height + border"),
)
SLICE = (
    """
    def cut(text, start, count):
        return text[start:count]
    """,
    """
    from shop import cut

    def test_middle():
        assert cut("abcdefgh", 3, 4) == "defg"

    def test_beginning():
        assert cut("abcdefgh", 0, 3) == "abc"
    """,
    ("text[start:start + count]", "text[start:count + start]", "text[start:][:count]"),
)
KEY = (
    """
    def ordered(names):
        return sorted(names)
    """,
    """
    from shop import ordered

    def test_long_ones_first():
        assert ordered(["fig", "melon", "date", "apple", "kiwi"]) == ["apple", "melon", "date", "kiwi", "fig"]
        assert ordered(["zebra", "horse", "yaks"]) == ["horse", "zebra", "yaks"]
    """,
    ("sorted(names, key=lambda x: (-len(x), x))",),
)
LOOP = (
    """
    def steps(most, step):
        done = 0
        while done < 9:
            done += step
        return done
    """,
    """
    from shop import steps

    def test_steps():
        assert steps(8, 3) == 9
        assert steps(2, 3) == 3
        assert steps(5, 2) == 6
    """,
    ("while done < most:", "while most > done:"),
)


@pytest.mark.parametrize(
    ("before", "test", "after"),
    [GUARD, FILTER, FORMULA, SLICE, KEY, LOOP],
    ids=["guard", "filter", "formula", "slice", "key", "loop"],
)
async def test_an_expression_is_found_that_no_template_has(
    lab: Lab, before: str, test: str, after: tuple[str, ...]
) -> None:
    lab.write({"shop.py": before, "test_shop.py": test})
    result = only(await lab.heal())
    assert result.outcome is Outcome.VERIFIED, result.reason
    assert any(fix.candidate.template.startswith("synthesis.") for fix in result.fixes)
    found = []
    for fix in result.fixes:
        lab.write({"shop.py": before})
        lab.apply(fix)
        found.append((lab.root / "shop.py").read_text())
    assert any(text in patched for patched in found for text in after), found
