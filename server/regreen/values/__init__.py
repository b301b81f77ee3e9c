"""What are the values that walk through Regreen, from a failing test to a verified fix?

Frozen dataclasses without behaviour that needs IO. Conventions, everywhere:

* paths are absolute `Path`s in the **user's** tree (never in a copy), unless a name says `copy_`;
* lines are 0-based; columns and offsets are code points of the file's text unless a name says otherwise;
* times are seconds, sizes are bytes;
* a *node id* is pytest's, relative to the project's rootdir, with forward slashes.
"""

from __future__ import annotations

from regreen.values.heals import (
    UNKNOWN,
    Answer,
    Candidate,
    CandidateVerdict,
    Confidence,
    Evidence,
    Flag,
    HealResult,
    Outcome,
    Progress,
    Rival,
    Suspect,
    Verdict,
    VerifiedFix,
    Vote,
)
from regreen.values.projects import (
    FileEdit,
    FileEntry,
    Interpreter,
    Isolation,
    Project,
    SearchStep,
    Snapshot,
    TextEdit,
    WorkingCopy,
)
from regreen.values.runs import (
    CanaryPoint,
    ComparedCall,
    Comparison,
    Expression,
    Failure,
    Frame,
    Local,
    Rung,
    RunReport,
    RunRequest,
    Spectrum,
    TestOutcome,
    TestSelection,
    TestStatus,
)

__all__ = [
    "UNKNOWN",
    "Answer",
    "CanaryPoint",
    "Candidate",
    "CandidateVerdict",
    "ComparedCall",
    "Comparison",
    "Confidence",
    "Evidence",
    "Expression",
    "Failure",
    "FileEdit",
    "FileEntry",
    "Flag",
    "Frame",
    "HealResult",
    "Interpreter",
    "Isolation",
    "Local",
    "Outcome",
    "Progress",
    "Project",
    "Rival",
    "RunReport",
    "RunRequest",
    "Rung",
    "SearchStep",
    "Snapshot",
    "Spectrum",
    "Suspect",
    "TestOutcome",
    "TestSelection",
    "TestStatus",
    "TextEdit",
    "Verdict",
    "VerifiedFix",
    "Vote",
    "WorkingCopy",
]
