"""What does `python -m regreen` do? The same as the command `regreen`."""

from __future__ import annotations

import sys

from regreen.cli import main

if __name__ == "__main__":
    sys.exit(main())
