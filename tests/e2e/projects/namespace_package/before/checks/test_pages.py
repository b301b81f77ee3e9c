from acme.paging.pages import bounds, page_count, page_of


def test_a_full_last_page_is_the_last():
    assert page_count(20, 10) == 2
    assert page_count(10, 10) == 1


def test_a_begun_page_counts():
    assert page_count(21, 10) == 3
    assert page_count(1, 10) == 1


def test_page_of():
    assert [page_of(index, 10) for index in (0, 9, 10)] == [1, 1, 2]


def test_bounds_of_a_full_page():
    assert bounds(2, 10, 20) == (10, 20)


def test_bounds_of_the_last_page():
    assert bounds(2, 10, 15) == (10, 15)


def test_bounds_of_a_page_in_between():
    assert bounds(2, 10, 95) == (10, 20)
