"""Do the debugger's tools show what is so, change nothing, and show nothing that must stay here?"""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.llm.excluded import exclusions
from regreen.pipeline.consulting.toolbox import SECONDS, ProjectToolbox
from regreen.pipeline.coverage import Coverage
from regreen.pipeline.ground import survey
from regreen.pipeline.reproduce import reproduce
from regreen.settings import Settings
from regreen.values import Attempt

from .lab import Lab

SHOP = {
    "shop.py": '''
        """A shop."""
        import functools


        def price(name):
            """What a thing costs."""
            return {"tea": 3, "cake": 5}[name]


        def total(names, discount=0):
            """The sum of the prices."""
            prices = [price(name) for name in names]
            whole = sum(
                prices,
                discount,
            )
            return check(
                whole,
                limit=(
                    7
                ),
            )


        def check(amount, limit):
            if amount > limit: raise ValueError(f"{amount} is too much")
            return amount
        ''',
    "test_shop.py": """
        from shop import price, total

        def test_total():
            assert total(["tea", "cake"]) == 8

        def test_price():
            assert price("tea") == 3
        """,
    ".env": "SHOP_NAME=the-very-secret-shop\n",
    "hidden.py": "LEVER = 'pull the third lever'\n\ndef lever():\n    return LEVER\n",
    ".regreenignore": "hidden.py\n",
}


async def toolbox(lab: Lab, seconds: float = SECONDS) -> ProjectToolbox:
    base = await lab.baseline()
    tools = await lab.tools()
    failure = base.report.failures[0]
    seen = await reproduce(failure, base, tools, Settings())
    assert seen.target is not None, seen.reason
    ground = await survey(seen.target, base, tools, Coverage(tools), base.report.isolation)
    sendable = exclusions(lab.root, frozenset())
    return ProjectToolbox(ground.field, tools, sendable, seconds=seconds)


async def value(lab: Lab, files: dict[str, str], *expressions: str) -> list[str]:
    lab.write(files)
    box = await toolbox(lab)
    return [await box.use("value", {"expression": one}) for one in expressions]


async def test_every_tool_tells_what_is_so_and_nothing_changes(lab: Lab) -> None:
    lab.write(SHOP)
    box = await toolbox(lab)
    before = lab.picture()

    shown = await box.use("read", {"path": "shop.py", "start": 5, "end": 7})
    assert shown.splitlines()[0] == "    5  def price(name):"
    assert len(shown.splitlines()) == 3
    found = await box.use("find", {"name": "price"})
    assert found.splitlines()[0] == "shop.py:5: def price(name):"
    assert "test_shop.py:1: from shop import price, total" in found
    assert await box.use("signature", {"name": "total"}) == (
        "shop.py: def total(names, discount=0):  # The sum of the prices."
    )
    assert await box.use("attempts", {}) == "Nothing was tried yet."
    box.attempts = (Attempt("minimal", "+x", "STILL_FAILING", "it is red"),)
    assert await box.use("attempts", {}) == "minimal: STILL_FAILING: it is red\n+x"

    assert await box.use("value", {"expression": "amount - limit  # how much"}) == (
        "amount - limit is 1 when that line first runs."
    )
    assert "amounts" in await box.use("value", {"expression": "amounts"})
    assert await box.use("test", {"nodeid": "test_shop.py::test_price"}) == "test_shop.py::test_price passed."
    red = await box.use("test", {"nodeid": "test_shop.py::test_total"})
    assert red.endswith("ValueError: 8 is too much"), red
    assert "did not run" in await box.use("test", {"nodeid": "test_shop.py::test_none"})
    assert await box.use("snippet", {"code": "import shop\nprint(shop.price('tea'))"}) == "3"
    assert await box.use("snippet", {"code": "x = 1"}) == "It printed nothing."
    assert "KeyError: 'milk'" in await box.use("snippet", {"code": "import shop\nshop.price('milk')"})

    assert lab.picture() == before


async def test_what_a_snippet_writes_reaches_nobody(lab: Lab) -> None:
    lab.write(SHOP)
    box = await toolbox(lab)
    before = lab.picture()
    # through doors that are no names of the list: what holds is that the run has a copy of its own
    code = "import logging\nlogging.FileHandler('written.log').emit(logging.makeLogRecord({'msg': 'x'}))\n"
    said = await box.use("snippet", {"code": f"{code}import os\nprint(os.path.exists('written.log'))"})
    assert said == "True"
    assert await box.use("snippet", {"code": "import os\nprint(os.path.exists('written.log'))"}) == "False"
    outside = lab.outside / "written.log"
    await box.use("snippet", {"code": code.replace("'written.log'", repr(str(outside)))})
    assert not outside.exists()
    assert lab.picture() == before


@pytest.mark.parametrize("tool", ["read", "find", "signature", "value", "snippet", "test"])
async def test_an_excluded_file_is_shown_by_no_tool(lab: Lab, tool: str) -> None:
    failing = """
        import codecs
        import hidden

        def test_lever():
            with codecs.open(".env") as file:
                text = file.read()
            assert (text, hidden.lever()) == ("", "")
        """
    lab.write({**SHOP, "shop.py": "", "test_shop.py": failing})
    box = await toolbox(lab)
    asked: dict[str, list[dict[str, object]]] = {
        "read": [
            {"path": name, "start": 1, "end": 9} for name in ("hidden.py", ".env", "../project/hidden.py")
        ],
        "find": [{"name": "LEVER"}, {"name": "lever"}],
        "signature": [{"name": "lever"}],
        "value": [{"expression": "hidden.lever()"}, {"expression": "codecs.decode(codecs.encode(text))"}],
        "snippet": [
            {
                "code": "import codecs\nfor line in codecs.lookup('utf-8').streamreader(__import__('io')): pass"
            },
            {"code": "import hidden\nprint(hidden.LEVER)"},
            {"code": "import hidden\nraise ValueError(hidden.LEVER)"},
            {"code": "import configparser\nc = configparser.ConfigParser()\nprint(c.read('.env'))"},
            {"code": "import os\nprint(os.listdir('.'))"},
        ],
        "test": [{"nodeid": "test_shop.py::test_lever"}],
    }
    for arguments in asked[tool]:
        said = await box.use(tool, arguments)
        assert (
            not str(arguments.get("code")).endswith("LEVER)") or "text of hidden.py, which must not" in said
        )
        assert "third lever" not in said, said
        assert "very-secret" not in said, said
        assert "return LEVER" not in said, said


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.system('id')",
        "import os\nos.kill(1, 9)",
        "from shutil import rmtree\nrmtree('/')",
        "eval('1')",
        "__import__('os')",
        "open('shop.py', 'w')",
        "print(open('.env').read())",
        "from pathlib import Path\nprint(Path('.env').read_text())",
        "import os\nprint(os.environ)",
        "from io import open as o\no('.env')",
        "import inspect, hidden\nprint(inspect.getsource(hidden))",
        "getattr(__builtins__, 'op' + 'en')",
        "def f(:",
    ],
)
async def test_what_harms_or_reads_is_refused_before_it_runs(code: str, tmp_path: Path) -> None:
    # no oracle at all: whatever ran would fail
    box = ProjectToolbox(None, None, str)  # type: ignore[arg-type]
    said = await box.use("snippet", {"code": code})
    assert said.startswith(("Not run: it uses ", "This is not Python"))


async def test_an_endless_loop_is_stopped_and_told(lab: Lab) -> None:
    lab.write(SHOP)
    box = await toolbox(lab, seconds=1.0)
    loop = "print('begun')\nwhile True:\n    try:\n        x = 1\n    except BaseException:\n        pass"
    said = await box.use("snippet", {"code": loop})
    assert "It was still running after 1 s and was ended." in said
    assert await box.use("snippet", {"code": "print('again')"}) == "again"
    said = await box.use("value", {"expression": "[x for x in iter(int, 1)]"})
    assert said == "It could not be seen: the test was still running after 1 s."


async def test_a_value_in_a_text_with_crlf_and_in_a_statement_of_many_lines(lab: Lab) -> None:
    lab.write({"test_sum.py": "from sums import share\n\ndef test_share():\n    assert share([4], 0) == 4\n"})
    text = "def share(parts, by):\n    whole = sum(parts)\n    return round(\n        whole\n        / by,\n    )\n"
    (lab.root / "sums.py").write_bytes(text.replace("\n", "\r\n").encode())
    box = await toolbox(lab)
    before = lab.picture()
    assert (
        await box.use("value", {"expression": "(whole, by)"})
        == "(whole, by) is (4, 0) when that line first runs."
    )
    assert lab.picture() == before


FUNCTIONS = {
    "one line": ("def f(x):\n    if x: return 1 / (x - 1)\n    return 0\n", "x", "1"),
    "semicolons": ("def f(x):\n    y = x + 1; return 1 / (x - 1)\n", "(x, y)", "(1, 2)"),
    "elif": ("def f(x):\n    if x == 2:\n        return 0\n    elif 1 / (x - 1):\n        return 1\n", "x", "1"),
    "decorated": (
        "import functools\n\n@functools.lru_cache(maxsize=None)\ndef f(x):\n    return 1 / (x - 1)\n",
        *("x", "1"),
    ),
    "decorator": ("def make(x):\n    def f(y):\n        return 1 / (x - y)\n    return f\n\nf = make(1)\n", "(x, y)", "(1, 1)"),
    "caught": (
        "def f(x):\n    try:\n        return 1 / (x - 1)\n    except Exception as e:\n        raise RuntimeError(x) from e\n    finally:\n        x = 7\n",
        *("x", "1"),
    ),
    "caught unless it is the failure": (
        "def f(x):\n    try:\n        return 1 / (x - 1)\n    except Exception as e:\n        if isinstance(e, ArithmeticError):\n            raise\n        return 1\n",
        *("x", "1"),
    ),
    "with": ("import contextlib\n\ndef f(x):\n    with contextlib.nullcontext(1 / (x - 1)):\n        pass\n", "x", "1"),
    "generator": ("def g(x):\n    for n in range(2):\n        yield n / (x - 1)\n\ndef f(x):\n    return list(g(x))\n", "(x, n)", "(1, 0)"),
    "lines of a text": ("def f(x):\n    said = 'a\\n b'\n    return 1 / (x - 1)\n", "said + ''", "'a\\n b'"),
    "shadowed": ("def f(x):\n    str = None\n    return 1 / (x - 1)\n", "x", "1"),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
async def test_a_value_is_seen_in_every_kind_of_statement(lab: Lab, name: str) -> None:
    text, expression, seen = FUNCTIONS[name]
    test = "from made import f\n\ndef test_f():\n    assert f(1) == 1\n"
    (said,) = await value(lab, {"made.py": text, "test_made.py": test}, expression)
    assert said == f"{expression} is {seen} when that line first runs."


async def test_a_value_is_seen_in_an_async_function(lab: Lab) -> None:
    text = "import asyncio\n\nasync def f(x):\n    await asyncio.sleep(0)\n    async with asyncio.Lock():\n        return 1 / (x - 1)\n"
    test = "import asyncio\nfrom made import f\n\ndef test_f():\n    assert asyncio.run(f(1)) == 1\n"
    (said,) = await value(lab, {"made.py": text, "test_made.py": test}, "x")
    assert said == "x is 1 when that line first runs."


async def test_what_is_no_expression_or_harms_is_no_value(lab: Lab) -> None:
    wrong = ["x = 1", "x; x", "", "(yield x)", "x\ny", "import os"]
    answers = await value(
        lab,
        {
            "made.py": "def f(x):\n    return 1 / (x - 1)\n",
            "test_made.py": "import made\n\ndef test_f():\n    made.f(1)\n",
        },
        *wrong,
        "open('a')",
        "eval('x')",
    )
    assert set(answers[: len(wrong)]) == {"expression must be one line of Python that has a value."}
    assert all(answer.startswith("Not run: ") for answer in answers[len(wrong) :])
