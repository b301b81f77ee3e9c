"""What does the user say to a plan, and to a patch, before anything follows from it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from regreen import edits
from regreen.llm.parts import Person
from regreen.llm.refusal import Refusal
from regreen.llm.repairer import Proposal
from regreen.llm.replies import Patch
from regreen.pipeline.ground import Ground
from regreen.values import Diagnosis, FileEdit

REJECTED = "rejected-by-you"


async def approved_plan(diagnosis: Diagnosis, person: Person) -> Diagnosis | None:
    """Show the plan; the diagnosis with the plan as it was approved, None when it was rejected."""
    cause = f"{diagnosis.path}:{diagnosis.line + 1}: {diagnosis.cause}"
    said = await person.review(f"The plan ({cause})", diagnosis.plan)
    return None if said is None else replace(diagnosis, plan=said)


async def approved_patches(proposals: Sequence[Proposal], ground: Ground, person: Person) -> list[Proposal]:
    """Show each patch before it runs: those approved, as they were edited, and the others as rejected."""
    reviewed = []
    for proposal in proposals:
        if isinstance(proposal.patch, Refusal):
            reviewed.append(proposal)
            continue
        files: list[FileEdit] = []
        for file in proposal.patch.files:
            data = ground.field.texts[file.path]
            name = edits.relative(file.path, ground.field.snapshot.project.root)
            text = edits.apply(edits.decode(data).text, file.edits)
            said = await person.review(f"A patch of {name} ({proposal.strategy})", text)
            if said is not None:
                files.append(edits.file_edit(file.path, data, said))
        whole = len(files) == len(proposal.patch.files)
        patch = Patch(tuple(files)) if whole else Refusal(REJECTED, "You rejected this patch.")
        reviewed.append(replace(proposal, patch=patch))
    return reviewed
