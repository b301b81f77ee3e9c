"""What a person in a real Neovim is asked before a language model is told anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from .conftest import CART, Start
from .nvim import Neovim

HINT = "prices are added"
DIAGNOSIS = {
    "think": "seen",
    "diagnosis": {
        "category": "wrong operator",
        "path": "cart.py",
        "line": 4,
        "variable": "result",
        "value": "7",
        "cause": "Prices are taken away.",
        "plan": "Add each price.",
        "confidence": 0.9,
    },
}


def patch(operator: str) -> str:
    return (
        "FILE: cart.py\n<<<<<<< SEARCH\n        result -= price\n=======\n"
        f"        result {operator} price\n>>>>>>> REPLACE\n"
    )


def script(folder: Path) -> str:
    """A model that is wrong until it is given the hint."""
    answers: list[dict[str, Any]] = [
        {"role": "debugger", "text": json.dumps(DIAGNOSIS)},
        {"role": "repairer", "when": HINT, "text": patch("+=")},
        {"role": "repairer", "text": patch("*=")},
        {
            "role": "critic",
            "text": '{"verdict": "accept", "confidence": 0.7, "issue": "", "counter_example": null}',
        },
        {"role": "summariser", "text": '{"lessons": []}'},
        {"role": "judge", "text": '{"side": "unclear", "why": "Even.", "confidence": 0.5}'},
    ]
    path = folder / "answers.yaml"
    document = {"address": "api.example.com", "answers": [{**one, "repeat": True} for one in answers]}
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return f"scripted:{path}"


def choose(nvim: Neovim, *picks: str) -> None:
    """What the person picks of the questions to come; the questions are kept."""
    nvim.lua(
        """
        _G.asked, _G.picks = _G.asked or {}, ...
        vim.ui.select = function(items, options, chosen)
          local titles = vim.tbl_map(function(one) return (options.format_item or tostring)(one) end, items)
          table.insert(_G.asked, { prompt = options.prompt, titles = titles })
          local wanted = table.remove(_G.picks, 1)
          for number, title in ipairs(titles) do
            if title == wanted then return chosen(items[number], number) end
          end
          chosen(nil, nil)
        end
        """,
        list(picks),
    )


def ended(nvim: Neovim, times: int) -> None:
    """Wait until so many heals of the test have ended."""
    nvim.until(
        "#vim.tbl_filter(function(line) return line:find('test_total: %u') end, require('regreen.log').lines()) >= ...",
        times,
    )


def test_consent_is_asked_for_once_and_a_hint_takes_a_heal_further(
    project: Path, start: Start, tmp_path: Path
) -> None:
    model = {"mode": "allowed", "model": script(tmp_path), "strategies": 1}
    (project / "cart.py").write_text(CART.replace("+=", "-="), encoding="utf-8")
    nvim = start(heal={"maxCandidates": 0}, llm=model)
    nvim.open(project / "test_cart.py")
    nvim.command("RegreenTrust")
    nvim.until("not require('regreen').status():find('not trusted')")
    nvim.command("RegreenRun")
    nvim.until("vim.diagnostic.get(0)[1] and vim.diagnostic.get(0)[1].code == 'test-failed'")
    assert nvim.lua("return _G.asked") is None, "runs ask nothing"

    nvim.type("6G")
    choose(nvim, "Send")
    nvim.command("RegreenHeal")
    ended(nvim, 1)
    (asked,) = nvim.lua("return _G.asked")
    assert "scripted at api.example.com" in asked["prompt"]
    assert asked["titles"] == ["Send", "Show the text", "Not now", "Never in this folder"]
    assert not nvim.lua("return vim.diagnostic.get(0)[1].message:find('verified fix')")

    nvim.command(f"RegreenResume {HINT}")
    ended(nvim, 2)
    nvim.until(
        "vim.iter(vim.diagnostic.get(0)):any(function(d) return d.message:find('verified fix') ~= nil end)"
    )
    assert len(nvim.lua("return _G.asked")) == 1, "what was allowed once holds"
