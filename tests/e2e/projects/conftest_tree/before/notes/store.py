from dataclasses import dataclass, field


@dataclass
class Note:
    title: str
    body: str = ""
    labels: set = field(default_factory=set)


class NoteStore:
    def __init__(self):
        self._notes = {}

    def save(self, note):
        self._notes[note.title] = note

    def titles(self):
        return sorted(self._notes)

    def labelled(self, label):
        return [note.title for note in self._notes.values() if label in note.label]
