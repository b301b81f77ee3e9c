"""Who may do what at which age."""

from ages.rules import may_drive, may_vote, ticket

__all__ = ["may_drive", "may_vote", "ticket"]
