"""Which slot may a lease use, when other leases and other Regreen processes use slots too?"""

from __future__ import annotations

import itertools
import secrets
import threading
from pathlib import Path

from regreen.workspace.slots import Slot

FRESH = "fresh-"


class Claim:
    """One lease's claim to a slot: settled even if the lease is cancelled while a thread looks for one."""

    def __init__(self, fresh: bool) -> None:
        self.fresh = fresh
        self.slot: Slot | None = None
        self.dropped = False


class SlotPool:
    """The slots of one mirror that this process holds. All methods block; all may be called from any thread.

    Args:
        folder: the mirror's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._held: list[Slot] = []
        self._free: list[Slot] = []

    def open(self) -> None:
        """Hold one slot, which shows others that the mirror is in use, and remove what a crash left behind."""
        for lock in self._folder.glob("*.lock"):
            slot = Slot(lock.with_suffix(""), fresh=lock.name.startswith(FRESH))
            if slot.lock.acquire(wait=False):
                if slot.fresh:
                    discard(slot)
                else:
                    slot.clear_temp()
                    slot.lock.release()
        with self._lock:
            if not self._held:
                self._free.append(self._next())

    def take(self, claim: Claim) -> Slot:
        """A slot for this claim, the one used last if there is a choice."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._lock:
            if claim.fresh:
                slot = Slot(self._folder / f"{FRESH}{secrets.token_hex(6)}", fresh=True)
                slot.lock.acquire()
                self._held.append(slot)
            else:
                slot = self._free.pop() if self._free else self._next()
            claim.slot = slot
            dropped = claim.dropped
        if dropped:
            self.give_back(claim, unpatched=False)
        return slot

    def give_back(self, claim: Claim, *, unpatched: bool) -> None:
        """End a claim.

        Args:
            claim: what `take` was given, or would have been.
            unpatched: the slot held a snapshot without a patch, and the run ended by itself.
        """
        with self._lock:
            claim.dropped = True
            slot, claim.slot = claim.slot, None
            if slot is None or slot not in self._held:
                return
            if not slot.fresh:
                slot.last_unpatched = unpatched
                self._free.append(slot)
                return
            self._held.remove(slot)
        discard(slot)

    def close(self) -> None:
        """Write down what the slots hold and let others have them."""
        with self._lock:
            for slot in self._held:
                if slot.fresh:
                    slot.delete()
                else:
                    slot.clear_temp()
                    slot.save()
                slot.lock.release()
            self._held, self._free = [], []

    def _next(self) -> Slot:
        """The lowest slot that nobody holds."""
        for number in itertools.count(1):
            slot = Slot(self._folder / str(number))
            if slot.lock.acquire(wait=False):
                if slot.lock.path.exists():  # else the mirror was being removed at this very moment
                    slot.load()
                    self._held.append(slot)
                    return slot
                slot.lock.release()
        raise AssertionError("numbers do not end")


def discard(slot: Slot) -> None:
    """Remove a slot that nobody will use again, its lock included, and let go of it."""
    slot.delete()
    slot.lock.release()
    slot.lock.path.unlink(missing_ok=True)
