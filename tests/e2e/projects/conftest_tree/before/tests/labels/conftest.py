import pytest

from notes.store import Note


@pytest.fixture
def filled(filled):
    filled.save(Note("report", "numbers", {"work", "urgent"}))
    return filled
