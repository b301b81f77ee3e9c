"""Where is the fault? Suspects ranked by spectrum, traceback and what the message names."""

from regreen.localization.ranking import rank

__all__ = ["rank"]
