"""How does a user change a text in the editor of their choice, at the terminal that is open already?"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from regreen.errors import EnvironmentProblem

FALLBACK = "vi"


def edited(text: str, environment: Mapping[str, str]) -> str:
    """Open a text in `$VISUAL` or `$EDITOR`, and give what it is when that ends. Blocks.

    Raises:
        EnvironmentProblem: there is no such editor, or it failed.
    """
    command = shlex.split(environment.get("VISUAL") or environment.get("EDITOR") or FALLBACK)
    with tempfile.TemporaryDirectory(prefix="regreen-") as folder:
        path = Path(folder) / "review.txt"
        path.write_text(text, encoding="utf-8", newline="")
        try:
            subprocess.run([*command, str(path)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise EnvironmentProblem(
                f"The editor {command[0]} failed: {error}.", "Set EDITOR to another one."
            ) from error
        return path.read_bytes().decode("utf-8")
