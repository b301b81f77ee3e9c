CHILD_UNTIL = 14
SENIOR_FROM = 65


def may_vote(age):
    """From the eighteenth birthday on."""
    return age > 18


def may_drive(age, accompanied=False):
    """From eighteen on; a year earlier when accompanied."""
    return age >= 18 or (accompanied and age >= 17)


def ticket(age):
    """The kind of ticket to sell."""
    if age < CHILD_UNTIL:
        return "child"
    if age >= SENIOR_FROM:
        return "senior"
    return "adult"
