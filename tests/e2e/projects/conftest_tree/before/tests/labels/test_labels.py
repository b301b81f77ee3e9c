def test_labelled(filled):
    assert filled.labelled("work") == ["report"]


def test_titles(filled):
    assert filled.titles() == ["report", "shopping"]
