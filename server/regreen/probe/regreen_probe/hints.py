"""What do live objects say about a failure that its text does not?"""

from __future__ import annotations

import types
from collections.abc import Callable


def of(
    error: BaseException, steps: list[tuple[types.FrameType, int]], own: Callable[[object], bool]
) -> dict[str, str]:
    """The `hints` of a failure."""
    return {}
