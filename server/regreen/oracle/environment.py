"""Which environment do the tests' processes get?

The user's, as their shell gives it with the project's environment activated, without what belongs to the
interpreter that Regreen runs in or to a test run that started us, and without the keys of language models: no test
needs Regreen's. What a model wrote sees less: only what programs need, and what a setting names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

OURS = ("PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")
"""Variables that would make another interpreter look for our library, or pytest take itself for a part of ours."""

_NEEDED = re.compile(
    # where programs and files are, how a person writes, and what Windows asks for
    r"PATH|HOME|VIRTUAL_ENV|TMPDIR|TEMP|TMP|LANG|LANGUAGE|LC_\w+|TZ"
    r"|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|USERPROFILE"
    r"|REGREEN_NO_(FORK|NAMESPACES|CONFINEMENT)"
)
_PROVIDER = (
    "AI21|ANTHROPIC|AZURE_(AI|OPENAI)|CEREBRAS|CLAUDE|COHERE|DATABRICKS|DEEPINFRA|DEEPSEEK|FIREWORKS(_AI)?|GEMINI|GOOGLE"
    "|GROQ|HF|HUGGING_?FACE(HUB)?|LITELLM|MISTRAL|MOONSHOT|NVIDIA(_NIM)?|OPENAI|OPENROUTER|PERPLEXITY(AI)?|REGREEN"
    "|REPLICATE|SAMBANOVA|TOGETHER(_?AI)?|VOYAGE|WATSONX|WX|XAI|ZAI"
)
_KEY_NAME = re.compile(rf"({_PROVIDER})(_\w+)?_(KEY|TOKEN|APIKEY)", re.IGNORECASE)
_KEY_VALUE = re.compile(r"(sk-|sk_ant|AIza|gsk_|hf_|xai-|r8_|pplx-|nvapi-)[\w-]{16,}")


def is_model_key(name: str, value: str) -> bool:
    """Whether a variable looks like the key of a language model, by its name or its value."""
    return bool(_KEY_NAME.fullmatch(name) or _KEY_VALUE.fullmatch(value))


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the keys of language models."""
    return {name: value for name, value in environment.items() if not is_model_key(name, value)}


def for_models(environment: Mapping[str, str], named: Collection[str]) -> dict[str, str]:
    """The part of an environment that code which a model wrote may see.

    Args:
        environment: as `for_interpreter` gives it.
        named: what else may be seen, by name.
    """
    return {name: value for name, value in environment.items() if _NEEDED.fullmatch(name) or name in named}


def for_interpreter(environment: Mapping[str, str], executable: Path) -> dict[str, str]:
    """The environment for a process of `executable`.

    Its folder comes first on PATH, so that programs of the environment are found by tests that start them;
    VIRTUAL_ENV names its environment, or is absent.
    """
    result = {
        name: value
        for name, value in without_keys(environment).items()
        if name not in OURS and not name.startswith("PYTEST_XDIST_")
    }
    folder = executable.parent
    unwanted = {str(folder)}
    if sys.prefix != sys.base_prefix:  # we run in an environment of our own, which is not the project's
        unwanted.add(str(Path(sys.prefix) / ("Scripts" if os.name == "nt" else "bin")))
    others = [part for part in result.get("PATH", "").split(os.pathsep) if part and part not in unwanted]
    result["PATH"] = os.pathsep.join([str(folder), *others])
    result.pop("VIRTUAL_ENV", None)
    if (folder.parent / "pyvenv.cfg").is_file():
        result["VIRTUAL_ENV"] = str(folder.parent)
    return result
