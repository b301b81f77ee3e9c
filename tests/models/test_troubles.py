from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regreen.model_worker import cleaning, troubles
from regreen.values import ModelProblem


def test_every_problem_that_the_worker_tells_has_a_name() -> None:
    told = {*troubles._BY_STATUS.values(), *troubles._BY_NAME.values(), *troubles.RETRIED}
    assert told <= {problem.value for problem in ModelProblem}


@given(st.text(max_size=40))
def test_any_retry_after_is_seconds_or_nothing(value: str) -> None:
    seconds = troubles.seconds_of(value)
    assert seconds is None or seconds >= 0


def test_a_retry_after_may_be_a_date() -> None:
    assert troubles.seconds_of("1.5") == 1.5
    assert troubles.seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert (troubles.seconds_of("Wed, 21 Oct 2999 07:28:00 GMT") or 0) > 1e6
    assert troubles.seconds_of("soon") is None


@given(st.text(max_size=600), st.text("abcdef0123456789", min_size=12, max_size=40), st.text(max_size=600))
def test_a_key_is_cleaned_out_of_any_text(before: str, key: str, after: str) -> None:
    line = cleaning.clean(before + key + after, {"SOME_API_KEY": key})
    assert key not in line
    assert len(line) <= cleaning.MOST
    assert "\n" not in line
