from geometry.shapes import Rectangle, bounding_box


def test_area():
    assert Rectangle(3, 4).area() == 12


def test_perimeter():
    assert Rectangle(3, 4).perimeter() == 14
    assert Rectangle(1, 1).perimeter() == 4


def test_diagonal():
    assert Rectangle(3, 4).diagonal() == 5


def test_bounding_box():
    box = bounding_box([(1, 1), (4, 3), (2, 8)])
    assert (box.width, box.height) == (3, 7)
