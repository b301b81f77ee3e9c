"""Regreen turns red tests green again: verified fixes for failing pytest runs, in the editor and the terminal."""

from __future__ import annotations

__version__ = "0.1.0"
