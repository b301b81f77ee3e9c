def test_empty(store):
    assert store.titles() == []


def test_saved(filled):
    assert filled.titles() == ["shopping"]
