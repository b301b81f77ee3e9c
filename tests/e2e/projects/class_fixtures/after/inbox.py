class Inbox:
    """Messages of one user, newest last."""

    def __init__(self, owner, messages=None):
        if messages is None:
            messages = []
        self.owner = owner
        self.messages = messages

    def receive(self, text):
        self.messages.append(text)

    def newest(self, count=1):
        return self.messages[-count:]
