"""How good is the repair, measured? `regreen bench`.

`cases` says what is healed, `trial` is the story of one case, `healing` and `grading` are its two halves: the heal
sees only the tests that its user would have, the grade comes from tests that it never saw. `totals`, `intervals`
and `compare` make numbers of the results; `command` puts everything together.
"""
