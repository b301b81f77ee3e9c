"""Found by an editable installation only: nothing here puts src on the import path."""

from queueing.priority import PriorityQueue

__all__ = ["PriorityQueue"]
