"""How are settings, paths and interpreters of the command line read?"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any


class SettingAction(argparse.Action):
    """Notes a setting of the command line; `key` names it, else the argument does: NAME=VALUE."""

    def __init__(self, *, key: str = "", **options: Any) -> None:
        super().__init__(**options | {"dest": "settings", "default": {}})
        self.key = key

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: Any = None
    ) -> None:
        """Add it to the settings."""
        key, value = self.key, values
        if not key:
            key, sign, text = values.removeprefix("regreen.").partition("=")
            if not sign:
                parser.error(f"argument {option}: {values!r} is not of the form NAME=VALUE")
            try:
                value = json.loads(text)
            except ValueError:
                value = text
        if key == "interpreter":
            value = interpreter(str(value))
        namespace.settings = {**namespace.settings, key: value}


def add_settings(command: argparse.ArgumentParser) -> None:
    """Let a command take an interpreter and any setting."""
    command.add_argument(
        "--interpreter",
        metavar="P",
        action=SettingAction,
        key="interpreter",
        help="the Python that runs the tests",
    )
    add_set(command)


def add_set(command: argparse.ArgumentParser) -> None:
    """Let a command take any setting."""
    command.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action=SettingAction,
        help="a setting, as JSON or plain text: isolation.network=true (docs/settings.md has all of them)",
    )


def absolute(path: Path | None) -> Path | None:
    """A path from where the command was typed; None stays None."""
    return None if path is None else Path(os.path.abspath(path))  # noqa: PTH100 — links are kept


def interpreter(name: str) -> str:
    """A path is relative to where the command was typed, not to the project; a bare name is looked up later."""
    return str(absolute(Path(name))) if os.sep in name or "/" in name else name
