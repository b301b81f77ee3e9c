"""What is in the standard library, as far as templates want to know?"""

from __future__ import annotations

import importlib
from functools import lru_cache
from types import ModuleType

STDLIB: dict[str, str] = {
    # names that are used as they are → where the standard library keeps them
    "Path": "pathlib", "defaultdict": "collections", "Counter": "collections", "OrderedDict": "collections",
    "deque": "collections", "namedtuple": "collections", "dataclass": "dataclasses", "field": "dataclasses",
    "partial": "functools", "reduce": "functools", "lru_cache": "functools", "wraps": "functools",
    "cached_property": "functools", "total_ordering": "functools", "datetime": "datetime", "timedelta": "datetime",
    "timezone": "datetime", "date": "datetime", "Decimal": "decimal", "ROUND_HALF_UP": "decimal", "Fraction": "fractions",
    "Enum": "enum", "IntEnum": "enum", "auto": "enum", "contextmanager": "contextlib", "suppress": "contextlib",
    "ABC": "abc", "abstractmethod": "abc", "Any": "typing", "Optional": "typing", "List": "typing", "Dict": "typing",
    "Tuple": "typing", "Set": "typing", "Union": "typing", "Callable": "typing", "Iterable": "typing",
    "Iterator": "typing", "Sequence": "typing", "NamedTuple": "typing", "Protocol": "typing", "TypeVar": "typing",
    "chain": "itertools", "product": "itertools", "permutations": "itertools", "combinations": "itertools",
    "groupby": "itertools", "accumulate": "itertools", "zip_longest": "itertools", "islice": "itertools",
    "sqrt": "math", "ceil": "math", "floor": "math", "pi": "math", "gcd": "math", "log": "math", "inf": "math",
    "isclose": "math", "itemgetter": "operator", "attrgetter": "operator", "deepcopy": "copy", "copy": "copy",
    "ascii_lowercase": "string", "ascii_letters": "string", "ascii_uppercase": "string", "digits": "string",
    "punctuation": "string", "StringIO": "io", "BytesIO": "io", "uuid4": "uuid", "sleep": "time",
    "TemporaryDirectory": "tempfile", "NamedTemporaryFile": "tempfile", "quote": "urllib.parse", "urlparse": "urllib.parse",
    "urlencode": "urllib.parse", "urljoin": "urllib.parse", "dedent": "textwrap", "mean": "statistics",
    "median": "statistics", "sha256": "hashlib", "md5": "hashlib", "heappush": "heapq", "heappop": "heapq",
    "bisect_left": "bisect", "bisect_right": "bisect", "ThreadPoolExecutor": "concurrent.futures",
}  # fmt: skip
MODULES = frozenset({
    "abc", "argparse", "array", "ast", "asyncio", "base64", "bisect", "calendar", "collections", "contextlib", "copy",
    "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "functools", "glob", "gzip", "hashlib", "heapq",
    "hmac", "html", "inspect", "io", "itertools", "json", "logging", "math", "operator", "os", "pathlib", "pickle",
    "platform", "queue", "random", "re", "secrets", "shlex", "shutil", "signal", "socket", "sqlite3", "statistics",
    "string", "struct", "subprocess", "sys", "tempfile", "textwrap", "threading", "time", "traceback", "types",
    "typing", "unicodedata", "urllib", "uuid", "warnings", "weakref", "zipfile", "zlib", "fractions", "locale",
})  # fmt: skip


@lru_cache
def members(module: str) -> dict[str, object]:
    """The public members of a module of the standard library, modules left out; nothing for any other."""
    root, *rest = module.split(".")
    if root not in MODULES:
        return {}
    try:
        found: object = importlib.import_module(root)
    except ImportError:  # a Python built without it
        return {}
    for name in rest:
        found = getattr(found, name, None)
    if not isinstance(found, ModuleType):
        return {}
    public = {name: value for name, value in vars(found).items() if not name.startswith("_")}
    return {name: value for name, value in public.items() if not isinstance(value, ModuleType)}
