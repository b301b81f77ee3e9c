"""Are times, money and foreign texts shown as what they are?"""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.errors import UsageError
from regreen.terminal.archive import cost, dollars, line, since
from regreen.values import Spent


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-14", datetime(2026, 3, 14, tzinfo=timezone.utc)),
        ("2026-03-14T15:30", datetime(2026, 3, 14, 15, 30, tzinfo=timezone.utc)),
        ("2026-03-14T15:30:00Z", datetime(2026, 3, 14, 15, 30, tzinfo=timezone.utc)),
        ("2026-03-14T15:30:00+02:00", datetime(2026, 3, 14, 13, 30, tzinfo=timezone.utc)),
    ],
)
def test_dates_are_utc_unless_they_say_otherwise(text: str, at: datetime) -> None:
    assert since(text) == at


@given(st.text(st.characters(exclude_categories=["Nd"]), max_size=20))
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no date"):
        since(text)


@pytest.mark.parametrize(
    ("usd", "text"), [(0, "$0.00"), (0.00004, "$0.0000"), (0.0123, "$0.0123"), (1.234, "$1.23")]
)
def test_small_amounts_have_more_digits(usd: float, text: str) -> None:
    assert dollars(usd) == text


@pytest.mark.parametrize(
    ("spent", "text"),
    [
        (Spent(), ""),
        (Spent(2, 10, 0.5), "$0.5000"),
        (Spent(2, 10, 0.5, 1), "$0.5000 + 1 unknown"),
        (Spent(2, 10, 0, 2), "2 unknown"),
    ],
)
def test_what_has_no_price_is_counted_apart(spent: Spent, text: str) -> None:
    assert cost(spent) == text


@given(st.text())
def test_a_foreign_text_stays_on_its_line(text: str) -> None:
    assert all(character == "\t" or character.isprintable() for character in line(text))
