"""Does the test fail for a model's patches as it does for everybody else?

What a model wrote sees only an allow-listed environment. A test that fails there for want of a variable would judge
every patch by that; and what plug-ins replace there of pytest is nothing that a patch did.
"""

from __future__ import annotations

from dataclasses import replace

from regreen.pipeline.consulting.stops import general
from regreen.pipeline.ground import Ground
from regreen.pipeline.parts import Tools
from regreen.validation.ladder import request_for


async def for_a_model(ground: Ground, tools: Tools) -> Ground | str:
    """Run the test unpatched as a model's patches are run.

    Returns:
        The ground with what such a run replaces of pytest by itself; or why no patch can be judged, for people.
    """
    field, target = ground.field, ground.field.target
    request = replace(request_for(target, field.snapshot, {}, "model"), details=True)
    report = await tools.oracle.run(request)
    if report.refused:
        return report.refused
    outcome = report.outcomes.get(target.failure.nodeid)
    if outcome is None or not outcome.status.is_red:
        state = outcome.status.value if outcome is not None else report.problem or "not run"
        return f"In the environment that a model's patches see, the test is {state}. {_HELP}"
    seen = outcome.failure
    if seen is not None and general(seen) != general(target.failure):
        said = f"{seen.exception.rpartition('.')[2]}: {(seen.message.splitlines() or [''])[0][:160]}"
        return f"In the environment that a model's patches see, the test fails otherwise ({said}). {_HELP}"
    if target.replaced is None:
        return ground
    known = replace(target, replaced=target.replaced | report.replaced)
    return replace(ground, field=replace(field, target=known))


_HELP = "Name the variables that it needs in `regreen.isolation.modelVariables`."
