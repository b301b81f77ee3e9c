import pytest

from inbox import Inbox


@pytest.fixture(scope="class")
def address():
    return "ada@example.org"


class TestReceiving:
    @pytest.fixture
    def inbox(self, address):
        inbox = Inbox(address)
        inbox.receive("hello")
        return inbox

    def test_owner(self, inbox):
        assert inbox.owner == "ada@example.org"

    def test_newest(self, inbox):
        inbox.receive("bye")
        assert inbox.newest(2) == ["hello", "bye"]


class TestEmpty:
    def test_a_new_inbox_is_empty(self, address):
        Inbox(address).receive("for someone else")
        assert Inbox(address).messages == []

    def test_given_messages_are_used(self, address):
        assert Inbox(address, ["one"]).messages == ["one"]
