"""How does a unified diff look on a terminal?"""

from __future__ import annotations

from rich.text import Text

_STYLES = (
    ("+++", "bold"),
    ("---", "bold"),
    ("@@", "cyan"),
    ("+", "green"),
    ("-", "red"),
)


def coloured(diff: str, *, indent: str = "") -> Text:
    """The diff with its added, removed and header lines coloured; git's own header line is left out.

    Lines are kept whole: control characters of the project's text are made visible, so that a file cannot
    move the cursor or recolour what stands around it.
    """
    text = Text(no_wrap=True, overflow="ignore")
    for line in diff.split("\n"):
        if line.startswith("diff --git ") or not line:
            continue
        shown = visible(line)
        text.append(f"{indent}{shown}\n", style=_style(line))
    text.rstrip()
    return text


def visible(line: str) -> str:
    """The line with control characters as pictures (tab stays, a final CR is dropped)."""
    return "".join(
        character if character == "\t" or character.isprintable() else _picture(character)
        for character in line.removesuffix("\r")
    )


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _style(line: str) -> str:
    return next((style for start, style in _STYLES if line.startswith(start)), "dim")
