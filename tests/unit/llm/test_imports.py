"""What is imported where no model is asked?"""

from __future__ import annotations

import subprocess
import sys

import pytest

OPTIONAL = (
    "litellm",
    "jinja2",
    "yaml",
    "jsonschema",
    "json_repair",
    "detect_secrets",
    "pathspec",
    "xllamacpp",
)

ASK = f"""
import importlib, sys
sys.meta_path.insert(0, type("No", (), {{"find_spec": staticmethod(
    lambda name, *_: (_ for _ in ()).throw(AssertionError(name)) if name.partition(".")[0] in {OPTIONAL!r} else None
)}}))
for name in sys.argv[1:]:
    importlib.import_module(name)
"""


@pytest.mark.parametrize(
    "modules",
    [
        ("regreen.cli", "regreen.serving", "regreen.lsp", "regreen.composition"),
        (
            "regreen.terminal.heal",
            "regreen.terminal.doctor",
            "regreen.terminal.runs",
            "regreen.bench.command",
        ),
        ("regreen.pipeline", "regreen.engine.runs", "regreen.llm.client", "regreen.llm.opening"),
    ],
)
def test_whatever_runs_without_a_model_imports_nothing_that_only_models_need(
    modules: tuple[str, ...],
) -> None:
    done = subprocess.run([sys.executable, "-c", ASK, *modules], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["regreen.llm.book", "regreen.llm.structured"])
def test_the_watch_above_would_see_such_an_import(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", ASK, module], capture_output=True, text=True, check=False)
    assert "AssertionError" in done.stderr


def test_asking_models_never_brings_their_library_into_this_process() -> None:
    """Prompts and replies need libraries of their own; only the worker imports what talks to models."""
    code = (
        "import sys, regreen.pipeline.consulting.story, regreen.llm.opening, regreen.llm.client, regreen.llm.book,"
        " regreen.llm.masking, regreen.llm.scripted; sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
