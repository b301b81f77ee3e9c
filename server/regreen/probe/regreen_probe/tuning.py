"""Which options of the project's own configuration must give way in our runs?"""

from __future__ import annotations

import difflib
import os
import re
import sys
import unittest.case

import pytest

from regreen_probe import databases

QUIET = {
    "boxed": False,
    "color": "no",
    "create_db": False,
    "dist": "no",
    "distload": False,
    "durations": None,
    "failedfirst": False,
    "forked": False,
    "lf": False,
    "looponfail": False,
    "newfirst": False,
    "no_header": True,
    "no_summary": True,
    "numprocesses": 0,
    "pastebin": None,
    "reportchars": "",
    "reuse_db": False,
    "showcapture": "no",
    "stepwise": False,
    "stepwise_skip": False,
    "tbstyle": "no",
    "trace": False,
    "tx": [],
    "usepdb": False,
    "xmlpath": None,
}
"""Options that reorder, distribute, stop, send, wait for a person, render what nobody reads, or keep databases."""


AT_REST = 2.0
"""Seconds; longer than the coarsest clock of a file system."""


def arguments(request: dict) -> list[str]:
    """The command line for pytest."""
    args = ["--rootdir=" + request["rootdir"]]
    for arg in request["args"]:
        path, colons, rest = arg.partition("::")
        args.append(os.path.join(request["rootdir"], path) + colons + rest)
    if request["park"]:
        args.append("--capture=sys")  # the other way keeps files, which the forks would share
    if request["kind"] != "pytest":
        args += ["-o", "python_files=test*.py tests.py *_test.py"]
    return args


class Tuner:
    """A pytest plug-in that overrides what addopts and the environment ask for."""

    def __init__(self, request: dict) -> None:
        self.request = request
        self.cache = os.path.join(request["temp"], "pytest-cache")
        self.known_red = frozenset(request["known_red"])
        self.chosen = arguments(request)[1 : 1 + len(request["args"])]

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config, args):
        """Options that must be there before other plug-ins look at the command line."""
        manager = early_config.pluginmanager
        if manager.hasplugin("pytest_cov"):
            args.append("--no-cov")
        if manager.hasplugin("randomly"):
            args.append("--randomly-dont-reorganize")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_cmdline_main(self, config):
        """Override options before anything acts on them."""
        option = config.option
        for name, value in QUIET.items():
            if hasattr(option, name):
                setattr(option, name, value)
        option.maxfail = 0
        option.collectonly = self.request["collect_only"]
        option.continue_on_collection_errors = not self.request["stop_first"]
        config._inicache["cache_dir"] = self.cache
        if self.chosen:
            config.args[:] = self.chosen  # and not what addopts names beside
        yield

    def go_on(self) -> None:
        """Whoever runs the tests from now on ends them."""
        self.request = {**self.request, "stop_first": False}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session):
        """Remember what can be ended; give databases their names."""
        self.session = session
        session.config.pluginmanager.register(databases.Databases())

    def pytest_runtest_logreport(self, report):
        """End the run at the first red test, if it shall; `--maxfail` would count those that were red before, too."""
        if self.request["stop_first"] and report.failed and report.nodeid not in self.known_red:
            self.session.shouldfail = "a test is red"


class _Writing:
    """The module `sys`, as pytest's rewriting of test files sees it."""

    def __init__(self, *, write: bool, folder: str | None) -> None:
        self.dont_write_bytecode = not write
        self.pycache_prefix = folder or sys.pycache_prefix

    def __getattr__(self, name):
        return getattr(sys, name)


def read_carefully() -> None:
    """Let pytest read the .pyc file of a rewritten test file only where that is safe.

    It must have been at rest for a while before it was made: older versions match them by size and whole seconds
    alone, and edits are quicker. It may also have been compiled under another name. Before anything of pytest is
    remembered as it is; once is enough.
    """
    rewrite = sys.modules["_pytest.assertion.rewrite"]
    plain = rewrite._read_pyc
    if plain.__module__ == __name__:
        return

    def careful(source, pyc, *more, **named):
        try:
            young = os.stat(pyc).st_mtime < os.stat(source).st_mtime + AT_REST
        except OSError:
            return None
        code = None if young else plain(source, pyc, *more, **named)
        return code if code is not None and code.co_filename == str(source) else None

    rewrite._read_pyc = careful


def keep_bytecode(*, write: bool, folder: str | None) -> None:
    """Tell pytest about the .pyc files of rewritten test files.

    Args:
        write: whether new ones are kept; everything else imports with sys.dont_write_bytecode.
        folder: where they are; None for beside the test files.
    """
    sys.modules["_pytest.assertion.rewrite"].sys = _Writing(write=write, folder=folder)


class _NoDiffs:
    """The module `difflib`, as unittest's assertions see it when nobody reads their messages."""

    def ndiff(self, *_args, **_named):
        """No lines."""
        return iter(())

    def __getattr__(self, name):
        return getattr(difflib, name)


def spare_diffs() -> None:
    """Let unittest's assertions fail without a diff of their values: that can take longer than the test."""
    unittest.case.difflib = _NoDiffs()


def django_settings(folder: str) -> str:
    """The settings module that a project's manage.py names; "" without one."""
    try:
        with open(os.path.join(folder, "manage.py"), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return ""
    found = re.search(r"""["']DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']""", text)
    return found[1] if found else ""
