"""What stops pytest once the plug-ins are loaded, and goes on in each fork as the run that is asked for?"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from regreen_probe import cache, compare, confine, held, parked, plugin, run, suite, tuning
from regreen_probe.forking import Forking
from regreen_probe.pipe import Pipe


class Primer:
    """The pytest plug-in that stops where the project's own files would be read, and goes on in each fork.

    Args:
        request: the message of a run like those to come.
        primed: the loop.
        holds: tells whether the options that pytest has read are those of the runs to come.

    Attributes:
        running: in a fork, the run that it is.
    """

    def __init__(self, request: dict, primed: Primed, holds: Callable[[], bool]) -> None:
        self.primed = primed
        self.holds = holds
        self.request = request
        self.running: run.Running | None = None
        self.args = tuning.arguments(request)
        # pytest has to know them, in their place, before there is a run to make them for.
        self.plugins = [object.__new__(kind) for kind in (plugin.Reporter, tuning.Tuner, compare.Comparing)]

    @property
    def pipe(self) -> Pipe:
        """For the records of whoever this is."""
        return self.primed.pipe if self.running is None else self.running.pipe

    def main(self) -> None:
        """Run pytest; what comes back is a fork, at the end of its run."""
        suite.name_program(self.args)
        status = int(pytest.main(list(self.args), plugins=[*self.plugins, self]))
        if self.running is not None:
            self.running.finish(status)

    def pytest_addoption(self, pluginmanager):
        """Be told of all that follows; this is the first thing that a plug-in hears."""
        self.undo = pluginmanager.add_hookcall_monitoring(self._before, lambda *_: None)

    def _before(self, name, _impls, given):
        if name != "pytest_load_initial_conftests":
            return
        if parked.shares() or not self.holds():
            os._exit(0)
        os.chdir(os.sep)  # to hold no folder of the user's while nothing runs
        self.running = self.primed.next_run()
        self.undo()
        self._go_on(given["early_config"], given["args"])

    def _go_on(self, config, args) -> None:
        """In a fork: give pytest what is this run's."""
        own = self.running.begin()
        for known, made in zip(self.plugins, own.plugins):  # noqa: B905 — Python 3.9 has no `strict`
            known.__dict__.update(made.__dict__)
        own.reporter, own.tuner, own.comparing = own.plugins = self.plugins
        suite.name_program(own.args)
        files = config.known_args_namespace.file_or_dir
        files[len(files) - len(self.request["args"]) :] = own.tuner.chosen
        args[len(args) - len(self.args) :] = own.args
        called = config.invocation_params
        config.invocation_params = type(called)(args=tuple(own.args), plugins=called.plugins, dir=called.dir)


class Primed(Forking):
    """The loop of the process that waits.

    Args:
        reader: where messages come from.
        pipe: for records.
        holding: what of the disk this process holds, but for what pytest imports until it waits.
    """

    def __init__(self, reader: int, pipe: Pipe, holding: held.Held) -> None:
        super().__init__(reader, pipe)
        self.holding = holding
        self.wanted: list[tuple[dict, bytes]] = []
        self.files: list[str] = []

    def next_run(self) -> run.Running:
        """Serve; comes back in each fork, with the run that it is to do."""
        self.holding.note()
        self.open()
        self.say({"ev": "primed"})
        try:
            while self.step():
                while self.wanted:
                    running = self._split(*self.wanted.pop(0))
                    if running is not None:
                        return running
        except BaseException:  # told by our end
            self.end()
        self.end()
        raise AssertionError  # the process has ended

    def _split(self, message: dict, line: bytes) -> run.Running | None:
        confinement = confine.Confinement(message["confine"])
        try:
            pipe = self.split(message["id"], how=confinement.fork)
        except confine.Refused as refused:
            self.refuse(message["id"], refused)
            return None
        return None if pipe is None else run.Running(line, pipe, confinement)

    def obey(self, message: dict, line: bytes) -> bool:
        """Begin a run, or hold code for the next ones."""
        if message["op"] == "run":
            self.wanted.append((message, line))
        elif message["op"] == "precompile":
            self.files += message["files"]
        elif message["op"] == "check":
            return bool(self.children) or not self.holding.changed()  # its end lets another one be primed
        else:
            return super().obey(message, line)
        return True

    def idle(self) -> bool:
        """Compile one file."""
        if self.files:
            cache.precompile(self.files.pop(0))
        return bool(self.files)
