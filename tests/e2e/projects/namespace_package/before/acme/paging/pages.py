def page_count(items, size):
    """How many pages of `size` hold so many items."""
    return (items + size - 1) // size


def page_of(index, size):
    """The page, from 1, that shows the item with this index, from 0."""
    return index // size + 1


def bounds(page, size, items):
    """The indices that a page shows: from the first to before the second."""
    start = (page - 1) * size
    return start, max(start + size, items)
