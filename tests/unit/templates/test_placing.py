"""Does a new import go where isort would have it?"""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen import edits
from regreen.source import ProjectSources
from regreen.templates.placing import insertion

ROOT = Path("/p")
MODULE = ROOT / "shop" / "cart.py"


def placed(text: str, code: str) -> str:
    files = {MODULE: text.encode(), ROOT / "shop" / "__init__.py": b"", ROOT / "prices.py": b""}
    sources = ProjectSources(files, ROOT)
    file = sources.get(MODULE)
    assert file is not None
    return edits.apply(text, (insertion(file, code, sources),))


@pytest.mark.parametrize(
    ("before", "code", "after"),
    [
        pytest.param("import os\nimport sys\n", "import re", "import os\nimport re\nimport sys\n", id="by name"),
        pytest.param("import os\n", "import abc", "import abc\nimport os\n", id="first"),
        pytest.param(
            "import os\nfrom abc import ABC\n", "import re", "import os\nimport re\nfrom abc import ABC\n", id="import before from"
        ),
        pytest.param("import sys\nimport os\n", "import re", "import sys\nimport os\nimport re\n", id="not in order"),
        pytest.param("from .a import b\n", "import copy", "import copy\n\nfrom .a import b\n", id="a section before"),
        pytest.param(
            "import os\n\nimport numpy\n\nimport prices\n\nfrom . import tax\n",
            "import attrs",
            "import os\n\nimport attrs\nimport numpy\n\nimport prices\n\nfrom . import tax\n",
            id="among others",
        ),
        pytest.param(
            "import os\n\nfrom . import tax\n",
            "from prices import net",
            "import os\n\nfrom prices import net\n\nfrom . import tax\n",
            id="the project's own between",
        ),
        pytest.param("import os\n\n\nX = 1\n", "import numpy as np", "import os\n\nimport numpy as np\n\n\nX = 1\n", id="a section after"),
        pytest.param("import os\nfrom . import a\n", "import numpy", "import os\nimport numpy\nfrom . import a\n", id="without empty lines"),
        pytest.param(
            "from __future__ import annotations\n\nX = 1\n",
            "import os",
            "from __future__ import annotations\n\nimport os\n\nX = 1\n",
            id="after the future",
        ),
        pytest.param("from ..a import b\nfrom .c import d\n", "from .a import z", "from ..a import b\nfrom .a import z\nfrom .c import d\n", id="dots"),
        pytest.param('"""Doc."""\n\nX = 1\n', "import os", '"""Doc."""\n\nimport os\n\nX = 1\n', id="after the docstring"),
        pytest.param("#!/usr/bin/env python\nX = 1\n", "import os", "#!/usr/bin/env python\nimport os\nX = 1\n", id="not before #!"),
        pytest.param("X = 1\n", "import os", "import os\nX = 1\n", id="nothing there"),
        pytest.param("", "import os", "import os\n", id="empty"),
        pytest.param(
            "from abc import (\n    ABC,\n)\n", "from re import sub", "from abc import (\n    ABC,\n)\nfrom re import sub\n", id="over several lines"
        ),
        pytest.param("import os\r\nX = 1\r\n", "import re", "import os\r\nimport re\r\nX = 1\r\n", id="line ends"),
    ],
)  # fmt: skip
def test_imports_are_placed(before: str, code: str, after: str) -> None:
    assert placed(before, code) == after
