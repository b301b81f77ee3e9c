"""Which arguments does `regreen bench` take, and what do they ask for?"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

USAGE = "regreen bench CASES [options]\n       regreen bench compare A B"


def add_arguments(bench: argparse.ArgumentParser) -> None:
    """Declare them."""
    bench.usage = USAGE
    bench.add_argument(
        "what",
        nargs="+",
        metavar="CASES",
        help="a JSONL file or a folder of cases; or `compare` and two files that --json wrote",
    )
    bench.add_argument(
        "--engine", choices=("offline", "model", "both"), default="offline", help="what thinks of patches"
    )
    bench.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        metavar="S",
        help="how long each heal may search (20 by default)",
    )
    bench.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="how many cases at a time"
    )
    bench.add_argument(
        "--executor", default="", metavar="ADDRESS", help="run on a cluster instead: dask://HOST:PORT"
    )
    bench.add_argument("--only", action="append", default=[], metavar="ID", help="only this case; repeatable")
    bench.add_argument("--interpreter", default="", metavar="P", help="the Python that runs the tests")
    bench.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the heals; repeatable"
    )
    bench.add_argument(
        "--json", type=Path, metavar="OUT", help="write every result, and go on there after a crash"
    )
    bench.add_argument("--html", type=Path, metavar="OUT", help="write a page that shows them")
    bench.add_argument(
        "--gate",
        default="",
        metavar="BOUNDS",
        help='exit with 1 unless they hold: "correct>=0.7,precision>=0.8"',
    )
    bench.add_argument(
        "--ablate",
        action="store_true",
        help="then leave out each family of templates in turn, and tell what it adds",
    )
