"""How does a red test become a verified fix? Read `story.py` first: it is the whole tale on one screen."""

from __future__ import annotations

from regreen.pipeline.consulting.values import Resume
from regreen.pipeline.coverage import PATIENT_SECONDS
from regreen.pipeline.parts import Baseline, Tools
from regreen.pipeline.story import baseline, heal
from regreen.pipeline.suite import Suite, collected
from regreen.pipeline.together import heal_again, heal_all

__all__ = [
    "PATIENT_SECONDS",
    "Baseline",
    "Resume",
    "Suite",
    "Tools",
    "baseline",
    "collected",
    "heal",
    "heal_again",
    "heal_all",
]
