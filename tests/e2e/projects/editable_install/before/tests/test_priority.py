from queueing import PriorityQueue


def test_order():
    queue = PriorityQueue()
    queue.put("later", 5)
    queue.put("first", 1)
    queue.put("second", 1)
    assert [queue.get() for _ in range(3)] == ["first", "second", "later"]


def test_length():
    queue = PriorityQueue()
    queue.put("x")
    assert len(queue) == 1
