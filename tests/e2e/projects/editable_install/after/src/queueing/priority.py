import heapq
import itertools


class PriorityQueue:
    """The smallest priority comes first; equal ones in the order they were put in."""

    def __init__(self):
        self._heap = []
        self._counter = itertools.count()

    def put(self, item, priority=0):
        heapq.heappush(self._heap, (priority, next(self._counter), item))

    def get(self):
        return heapq.heappop(self._heap)[2]

    def __len__(self):
        return len(self._heap)
