import pytest

from notes.store import Note


@pytest.fixture
def filled(store):
    store.save(Note("shopping", "milk", {"home"}))
    return store
