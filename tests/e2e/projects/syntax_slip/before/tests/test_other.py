def test_another_file_is_green():
    assert "tally".startswith("t")
