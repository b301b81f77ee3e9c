"""Which constructs may a patch never add, and which code is too dangerous to run variants of?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from regreen.source import Node, Role, SourceFile, imports_of, role_of

_ATTRIBUTES = frozenset(
    {
        "system", "popen", "execv", "execve", "execvp", "fork", "forkpty", "kill", "killpg", "dup2", "closerange",
        "rmtree", "symlink", "link", "write_text", "write_bytes", "unlink", "rmdir", "removedirs", "truncate", "chmod",
    }
)  # fmt: skip
_NAMES = frozenset({"eval", "exec", "compile", "__import__", "breakpoint"})


def harmful(nodes: Iterable[Node]) -> Iterator[str]:
    """Name what writes, deletes, spawns, kills or hides code, as often as it occurs."""
    for node in nodes:
        if node.kind == "attribute":
            name = node.field("attribute")
            if name is not None and name.text in _ATTRIBUTES:
                yield f".{name.text}"
        elif node.kind == "import_from_statement":
            yield from (f"{one.module}.{one.name}" for one in imports_of(node) if one.name in _ATTRIBUTES)
        elif node.kind == "identifier" and node.text in _NAMES and role_of(node) is Role.READ:
            yield node.text
        elif node.kind == "call" and _opens_for_writing(node):
            yield "open for writing"


def _opens_for_writing(call: Node) -> bool:
    function = call.field("function")
    if function is None or function.text.rpartition(".")[2] != "open":
        return False
    arguments = call.field("arguments")
    return arguments is not None and any(
        n.kind == "string"
        and set(n.text.strip("\"'")) & set("wax+")
        and set(n.text.strip("\"'")) <= set("wax+bt")
        for n in arguments.walk()
    )


def dangerous(source: SourceFile, line: int) -> str:
    """Name what makes running variants of the function on a 0-based line unsafe where files are unprotected.

    Functions that delete, overwrite, spawn or send get no candidates there; "" when nothing was found.
    """
    function = source.function_at(line)
    if function is None:
        return ""
    for node in function.node.walk():
        if node.kind == "call":
            called = node.field("function")
            name = called.text if called else ""
            if (
                _opens_for_writing(node)
                or name.rpartition(".")[2] in _UNSAFE_CALLS
                or name.startswith(_UNSAFE_OWNERS)
            ):
                return name
    return ""


_UNSAFE_CALLS = frozenset(
    [
        "unlink",
        "remove",
        "rmdir",
        "rmtree",
        "removedirs",
        "rename",
        "replace_file",
        "truncate",
        "write_text",
        "write_bytes",
        "system",
        "popen",
        "Popen",
        "run_command",
        "check_call",
        "check_output",
        "kill",
        "killpg",
        "send",
        "sendall",
        "sendto",
        "sendmail",
        "urlopen",
        "execute",
        "executemany",
        "move",
        "copyfile",
        "copytree",
        "chmod",
        "chown",
    ]
)
_UNSAFE_OWNERS = (
    "subprocess.",
    "shutil.",
    "socket.",
    "requests.",
    "httpx.",
    "smtplib.",
    "os.exec",
    "os.spawn",
)
