"""What no test asks tells plausible patches apart, or makes sure of them."""

from __future__ import annotations

from regreen.values import Confidence

from .lab import Lab, only


async def test_patches_that_all_behave_alike_agree(lab: Lab) -> None:
    lab.write(
        {
            "shop.py": """
                def price(cents, pieces):
                    return cents * (pieces - 1)
                """,
            "test_shop.py": """
                from shop import price


                def test_price():
                    assert price(5, 3) == 15
                    assert price(7, 1) == 7


                def test_many():
                    assert price(2, 100) == 200


                def test_free():
                    assert price(0, 4) == 0
                """,
        }
    )
    results = await lab.heal()
    vote = results[0].fixes[0].evidence.vote
    assert vote.confidence is Confidence.AGREED, vote.lines
    assert vote.changes == ()


async def test_a_split_shows_a_call_that_tells_the_best_two_apart(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": """
                def total(prices):
                    result = 0
                    for price in prices:
                        result -= price
                    return result
                """,
            "test_cart.py": """
                from cart import total


                def test_total():
                    assert total([10, 5]) == 15
                """,
        }
    )
    fix = only(await lab.heal()).fixes[0]
    vote = fix.evidence.vote
    assert "+        result += price" in fix.diff
    assert vote.confidence is Confidence.SPLIT, vote.lines
    assert vote.rival is not None
    prices = [int(price) for price in vote.rival.call.removeprefix("total([").removesuffix("])").split(", ")]
    assert vote.rival.ours == str(sum(prices)) != vote.rival.theirs


async def test_a_changed_answer_that_no_test_notices_is_told(lab: Lab) -> None:
    lab.write(
        {
            "cart.py": """
                def mean(prices):
                    return sum(prices) / (len(prices) + 1)
                """,
            "test_cart.py": """
                from cart import mean


                def test_mean():
                    assert mean([1, 2, 3]) == 2


                def test_type():
                    assert isinstance(mean([4, 4]), float)
                """,
        }
    )
    fix = only(await lab.heal()).fixes[0]
    told = [(one.call, one.before, one.after) for one in fix.evidence.vote.changes]
    assert told == [("mean([4, 4])", "2.66666666667", "4.0")]
