"""Put the real output of `regreen heal examples/cart` into README.md, between its two marks."""  # noqa: INP001 — a script

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- recorded by `make record` -->\n", "<!-- end of the recording -->\n"


def demo() -> str:
    """What the demo prints on a pipe, with the repository's own place written as ~/regreen."""
    command = [sys.executable, "-m", "regreen", "heal", "examples/cart"]
    run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return run.stdout.replace(str(ROOT), "~/regreen")


def with_recording(page: str, recording: str) -> str:
    """The page with the recording between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    block = f"```text\n$ regreen heal examples/cart\n{recording.rstrip()}\n```\n"
    return f"{before}{BEGIN}{block}{END}{after}"


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(with_recording(readme.read_text(encoding="utf-8"), demo()), encoding="utf-8")
