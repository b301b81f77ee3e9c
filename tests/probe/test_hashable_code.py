"""Do code objects with markers behave like code objects where a project hashes and compares them?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROBE = Path(__file__).resolve().parents[2] / "server" / "regreen" / "probe"

QUESTION = """
import json, sys
sys.path.insert(0, sys.argv[1])
from regreen_probe import instrument, markers
table = markers.Table("a.py")
source = b"def f():\\n    return 1\\ndef g():\\n    return 2\\n"
names = {}
exec(instrument.compiled("a.py", source, table=table), names)
codes = {names["f"].__code__, names["g"].__code__}
before = len(codes)
names["f"]()
print(json.dumps([before, names["f"].__code__ in codes, table.executed(), len({markers.Hits(2), markers.Hits(2)})]))
"""


def test_a_marked_function_can_be_kept_in_a_set_and_found_again_after_it_ran() -> None:
    asked = [sys.executable, "-c", QUESTION, str(PROBE)]
    told = json.loads(subprocess.run(asked, capture_output=True, check=True, text=True).stdout)
    assert told == [2, True, [2], 2]
