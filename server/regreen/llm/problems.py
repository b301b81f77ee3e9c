"""What is a person told about a call that gave no usable reply, and may another model be asked instead?"""

from __future__ import annotations

from collections.abc import Mapping

from regreen.values import ModelInfo, ModelProblem

_SENTENCES: Mapping[ModelProblem, tuple[str, str]] = {
    ModelProblem.MISSING: (
        "Models cannot be asked: what talks to {model} is not installed.",
        'Install it beside Regreen: pip install "regreen[llm]".',
    ),
    ModelProblem.REFUSED: (
        "Nothing listens at {address}, where {model} should be.",
        "Start its server, or set regreen.llm.baseUrl to where it is.",
    ),
    ModelProblem.DNS: (
        "There is no host {address} for {model}.",
        "Check regreen.llm.baseUrl and your connection to the network.",
    ),
    ModelProblem.NETWORK: (
        "The connection to {address} broke while {model} was asked.",
        "Try again; if it breaks every time, look for a proxy or firewall in between.",
    ),
    ModelProblem.TIMEOUT: (
        "{model} at {address} did not answer in time.",
        "Give it longer with the field seconds of regreen.llm.roles, or choose a faster model.",
    ),
    ModelProblem.AUTH: (
        "{address} does not accept the key for {model}, or there is none.",
        "Set the key in the environment, in the variable that the provider names or regreen.llm.keyVariable does.",
    ),
    ModelProblem.RATE: (
        "{address} takes no more questions for {model} now: too many were asked, or the quota is used up.",
        "Wait, raise the quota with the provider, or name another model in regreen.llm.fallbacks.",
    ),
    ModelProblem.CONTEXT: (
        "The question is longer than what {model} at {address} can read.",
        "Set regreen.llm.contextTokens to its context window, or choose a model with a longer one.",
    ),
    ModelProblem.UNKNOWN_MODEL: (
        "There is no model {model} at {address}.",
        "Check regreen.llm.model: the provider's name comes first, as in anthropic/… or ollama_chat/….",
    ),
    ModelProblem.BAD_REQUEST: (
        "{address} does not take a question to {model} as it was put.",
        "The log has the provider's own words; another model may take it.",
    ),
    ModelProblem.SERVER: (
        "{address} failed while {model} was asked.",
        "Try again later, or name another model in regreen.llm.fallbacks.",
    ),
    ModelProblem.MALFORMED: (
        "What {address} sent for {model} is no answer.",
        "Check regreen.llm.baseUrl: a sign-in page or another kind of server may be in the way.",
    ),
    ModelProblem.TRUNCATED: (
        "The answer of {model} at {address} was longer than it may be, and so is incomplete.",
        "Allow longer ones with the field maxTokens of regreen.llm.roles.",
    ),
    ModelProblem.FILTERED: (
        "The content filter of {address} stopped the answer of {model}.",
        "Name a model of another provider in regreen.llm.fallbacks.",
    ),
    ModelProblem.SILENTLY_CUT: (
        "The server at {address} read only a part of what {model} was asked.",
        "Raise the context length of that server, or lower regreen.llm.contextTokens to what it takes.",
    ),
    ModelProblem.WORKER: (
        "The process that talks to models ended while {model} was asked.",
        "Try again; if it ends every time, the log says why (a model file may need more memory than there is).",
    ),
}
_FILE_MISSING = (
    "Model files cannot be run: what runs {model} is not installed.",
    'Install it beside Regreen: pip install "regreen[local]".',
)
_NO_FILE = ("{model} is not a model file that can be read.", "Check the path in regreen.llm.model.")

FALLBACK = frozenset(
    {
        ModelProblem.REFUSED,
        ModelProblem.DNS,
        ModelProblem.NETWORK,
        ModelProblem.TIMEOUT,
        ModelProblem.AUTH,
        ModelProblem.RATE,
        ModelProblem.CONTEXT,
        ModelProblem.UNKNOWN_MODEL,
        ModelProblem.BAD_REQUEST,
        ModelProblem.SERVER,
        ModelProblem.MALFORMED,
        ModelProblem.FILTERED,
        ModelProblem.SILENTLY_CUT,
    }
)
"""Problems that are of one model or its provider, so that another one may answer. A reply that is too long would be so
from others, and without the worker or litellm none can be asked."""


def sentence(problem: ModelProblem, info: ModelInfo) -> tuple[str, str]:
    """What happened, and what to do next: a sentence each.

    Args:
        problem: of the call, or of `info`.
        info: of the model that was asked; its address may be unknown.
    """
    what, hint = _SENTENCES[problem]
    if info.provider == "gguf":
        if problem is ModelProblem.MISSING and "xllamacpp" in info.detail:
            what, hint = _FILE_MISSING
        elif problem is ModelProblem.UNKNOWN_MODEL:
            what, hint = _NO_FILE
    address = info.address or ("this machine" if info.local else "its provider")
    return what.format(model=info.model or "the model", address=address), hint
