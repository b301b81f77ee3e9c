"""Which exceptions can Regreen raise, and who is meant to see them?

Expected results of a heal are values (`values.Outcome`, `values.Verdict`), never exceptions. What is
raised is either for the user, who can act on it, or a bug::

    RegreenError               anything we raise on purpose
    ├── UserError              the user can mend it: what happened, where, what to do next
    │   ├── UsageError         the command line or a setting makes no sense
    │   ├── EnvironmentProblem no interpreter, no pytest, a folder that cannot be read
    │   │   └── NoTests        there is nothing to run
    │   ├── UntrustedFolder    nothing of this folder may run yet
    │   └── UnreadableText     a file's bytes are not text in the encoding it declares
    ├── StaleFix               the text a fix was verified against is no longer there
    └── OracleFailed           the probe died or broke its protocol: a bug, with the probe's last words
"""

from __future__ import annotations


class RegreenError(Exception):
    """Base of everything Regreen raises on purpose."""


class UserError(RegreenError):
    """A problem its reader can mend.

    Args:
        what: what happened and where, one sentence.
        hint: what to do next, one sentence; empty when the first sentence says it.
    """

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(f"{what} {hint}".strip())
        self.what = what
        self.hint = hint


class UsageError(UserError):
    """Arguments or settings that make no sense."""


class EnvironmentProblem(UserError):
    """Something outside Regreen is missing or broken: interpreter, pytest, permissions."""


class NoTests(EnvironmentProblem):
    """A project without tests: no problem beside others that have some."""


class UntrustedFolder(UserError):
    """The folder's code may not run before the user trusts it."""


class UnreadableText(UserError):
    """Bytes that cannot be decoded and written back exactly, or text its file's encoding does not have."""


class StaleFix(RegreenError):
    """The document changed since the fix was verified, so the fix is refused."""


class OracleFailed(RegreenError):
    """The probe ended or spoke nonsense; carries its last output for the journal."""
