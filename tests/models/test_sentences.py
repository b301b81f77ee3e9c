from __future__ import annotations

import pytest

from regreen.llm.problems import FALLBACK, sentence
from regreen.values import ModelInfo, ModelProblem

PROBLEMS = pytest.mark.parametrize("problem", list(ModelProblem))


@PROBLEMS
def test_every_problem_says_what_happened_and_what_to_do_next(problem: ModelProblem) -> None:
    what, hint = sentence(problem, ModelInfo("anthropic/some-model", "anthropic", "api.anthropic.com"))
    assert "anthropic/some-model" in what
    assert what.endswith(".")
    assert hint.endswith(".")
    assert "{" not in what + hint


@PROBLEMS
def test_a_sentence_needs_no_address(problem: ModelProblem) -> None:
    for info in (ModelInfo("gguf:/models/a.gguf", "gguf", local=True), ModelInfo("")):
        what, hint = sentence(problem, info)
        assert "  " not in what + hint
        assert " ," not in what


def test_each_sentence_is_its_own() -> None:
    info = ModelInfo("openai/x", "openai", "api.openai.com")
    assert len({sentence(problem, info) for problem in ModelProblem}) == len(ModelProblem)


def test_a_missing_runner_of_model_files_names_its_own_extra() -> None:
    info = ModelInfo("gguf:/a.gguf", "gguf", local=True, detail="xllamacpp is not installed")
    assert 'pip install "regreen[local]"' in sentence(ModelProblem.MISSING, info)[1]
    assert 'pip install "regreen[llm]"' in sentence(ModelProblem.MISSING, ModelInfo("openai/x"))[1]


def test_no_other_model_is_asked_where_none_could_answer() -> None:
    assert not FALLBACK & {ModelProblem.MISSING, ModelProblem.WORKER, ModelProblem.TRUNCATED}
