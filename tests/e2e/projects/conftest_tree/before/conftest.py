import pytest

from notes.store import NoteStore


@pytest.fixture
def store():
    return NoteStore()
