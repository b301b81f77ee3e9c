import math


class Rectangle:
    def __init__(self, width, height):
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height

    def perimeter(self):
        return 2 * (self.width - self.height)

    def diagonal(self):
        return math.hypot(self.width, self.height)


def bounding_box(points):
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    return Rectangle(max(xs) - min(xs), max(ys) - min(ys))
