"""Which files of a project may never be sent to a model?

A file stays here when `.regreenignore` names it, when git ignores it, when its name is one that keys and passwords are
kept under, or when it is not in the project at all. What lies in a project can only add to that: a `!` in a
`.regreenignore` takes back what a `.regreenignore` said, never what the list of names or git says, because whoever
wrote the repository is not whose secrets are at stake. So nothing allows a module `secrets.py`; it can be renamed.

`.regreenignore` is written like `.gitignore`: the nearest file that says something about a path wins, the last line
within a file wins, and nothing below an excluded folder can be let in again.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

from pathspec import GitIgnoreSpec, RegexPattern

IGNORE_FILE = ".regreenignore"

SECRET_NAMES = (
    *(".env*", "*.env", ".netrc", "_netrc", ".pypirc", ".npmrc", ".yarnrc.yml", ".pgpass", "pgpass.conf"),
    *(".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg", ".boto", ".s3cfg", ".vault-token"),
    *("kubeconfig", "*.kubeconfig", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk"),
    *("*.jks", "*.keystore", "*.kdb", "*.kdbx", "*.gpg", "*.tfstate", "*.tfstate.*", "*.tfvars"),
    *("*.tfvars.json", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss", "id_*_sk", "id_rsa.*"),
    *("id_dsa.*", "id_ecdsa.*", "id_ed25519.*", "id_xmss.*", "id_*_sk.*", "credentials*", "*.credentials"),
    *("*credentials.json", "client_secret*.json", "service[-_]account*.json", "secrets", "secrets.*"),
    *("*.secret", "*.secrets", ".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".docker"),
)
"""Names of files and folders, in any case, that keys and passwords are kept under."""

UNSEARCHED = {
    **dict.fromkeys((".git", ".hg", ".svn", ".jj", ".bzr"), "version control"),
    **dict.fromkeys(("node_modules", "bower_components"), "packages of another language"),
}
"""Folders (or files: a submodule's `.git` is one) that are no part of a project's own text, and what they hold."""

ENVIRONMENT_MARK = "pyvenv.cfg"

_THROUGH = "ps_d"
"""The group of pathspec's expressions that holds the `/` after a folder which a pattern means."""

_ALL_WITHIN = re.compile(r"(?<=/)\*\*(/?)(?=\s*$)")
_SECRET = tuple((pattern, re.compile(translate(pattern))) for pattern in SECRET_NAMES)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What one `.regreenignore` says about the files below its folder, or why that cannot be known."""

    name: str  # of the file, relative to the root
    lines: Sequence[str] = ()  # without empty ones
    patterns: Sequence[RegexPattern] = ()  # of the same number
    broken: str = ""


def exclusions(root: Path, ignored: AbstractSet[Path]) -> Callable[[Path], str]:
    """Find out what must stay here. Blocks: reads every `.regreenignore` of the project.

    A `.regreenignore` that cannot be read or makes no sense keeps everything below its folder here.

    Args:
        root: the project's folder, absolute.
        ignored: the files and folders in it that git ignores, absolute.

    Returns:
        Says why the file with an absolute path must not be sent, as a clause that ends without a full stop; ""
        when it may. It follows links, so it asks the disk. Its answers hold until the next `exclusions`.
    """
    root = Path(os.path.normpath(root))
    real_root = Path(os.path.realpath(root))
    rules, closed = _read(root)
    real_ignored = {Path(os.path.realpath(path)) for path in ignored}
    known: dict[Path, str] = {}

    def judge(name: Path, under: Path, hidden: AbstractSet[Path]) -> str:
        inner = name.relative_to(under)
        folders = [inner, *inner.parents][:-1]  # all but the root itself
        return (
            _by_name(inner)
            or next((closed[at] for at in map(Path.as_posix, folders) if at in closed), "")
            or closed.get("", "")
            or _by_rules(inner.parts, rules)
            or ("git ignores it" if any(under / folder in hidden for folder in folders) else "")
        )

    def why(path: Path) -> str:
        name = Path(os.path.normpath(path))
        real = Path(os.path.realpath(path))
        if not path.is_absolute() or not real.is_relative_to(real_root) or real == real_root:
            return "it lies outside of the project"
        if name.is_relative_to(root) and (reason := judge(name, root, ignored)):
            return reason
        reason = judge(real, real_root, real_ignored)
        return f"it leads to a file about which holds: {reason}" if reason else ""

    def cached(path: Path) -> str:
        if path not in known:
            known[path] = why(path)
        return known[path]

    return cached


def _by_name(inner: Path) -> str:
    for part in inner.parts:
        folded = part.casefold()
        if folded in UNSEARCHED:
            return f"{part} holds {UNSEARCHED[folded]}"
        for pattern, matcher in _SECRET:
            if matcher.match(folded):
                return (
                    f"the name {part} is one that secrets are kept under ({pattern}), and nothing in a project"
                    " can allow it; rename it if it holds none"
                )
    return ""


def _by_rules(parts: Sequence[str], rules: Mapping[str, _Rules]) -> str:
    """Ask for each folder on the way down and for the file itself, as git does."""
    for depth in range(1, len(parts) + 1):
        end = "" if depth == len(parts) else "/"
        for above in range(depth - 1, -1, -1):  # the nearest file first
            said = rules.get("/".join(parts[:above]))
            if said is None:
                continue
            if said.broken:
                return said.broken
            last = _last(said.patterns, "/".join(parts[above:depth]) + end)
            if last is not None and said.patterns[last].include:
                return f"{said.name} names it ({said.lines[last].strip()})"
            if last is not None:
                break
    return ""


def _last(patterns: Sequence[RegexPattern], path: str) -> int | None:
    """Which pattern is the last that means this very path; a folder's ends in `/`.

    pathspec's own walk over the patterns is about files only, and lets a pattern for a folder mean all that is in it:
    a folder that is let in would let in what other lines keep.
    """
    for number in range(len(patterns) - 1, -1, -1):
        regex = patterns[number].regex
        if regex is None:  # a comment
            continue
        for found in regex.finditer(path):
            if found.groupdict().get(_THROUGH) is None or found.end(_THROUGH) == len(path):
                return number
    return None


def _read(root: Path) -> tuple[Mapping[str, _Rules], Mapping[str, str]]:
    """Read what the files say: folder relative to the root, with `/` → its rules, and → why all of it stays here."""
    rules: dict[str, _Rules] = {}
    closed: dict[str, str] = {}

    def unlisted(error: OSError) -> None:
        folder = _relative(Path(error.filename), root)
        closed[folder] = f"the folder {folder or '.'} cannot be listed ({error.strerror})"

    for at, folders, files in os.walk(root, onerror=unlisted):
        folder = _relative(Path(at), root)
        if (
            ENVIRONMENT_MARK in files and folder
        ):  # an environment made in the root itself has the project beside it
            closed[folder] = f"{folder} is a Python environment"
            folders.clear()
            continue
        folders[:] = [name for name in folders if name.casefold() not in UNSEARCHED]
        for name in _named_so(files, folders):
            rules[folder] = _parse(Path(at, name), f"{folder}/{name}" if folder else name)
    return rules, closed


def _named_so(files: Sequence[str], folders: Sequence[str]) -> Iterator[str]:
    yield from (name for name in (*files, *folders) if name == IGNORE_FILE)


def _relative(path: Path, root: Path) -> str:
    inner = path.relative_to(root).as_posix()
    return "" if inner == "." else inner


def _parse(path: Path, name: str) -> _Rules:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be read forever
            return _Rules(name, broken=f"{name} is no file that could be read, so nothing beside it is sent")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return _Rules(
            name, broken=f"{name} cannot be read ({error.strerror}), so nothing beside it is sent: mend it"
        )
    except UnicodeDecodeError:
        return _Rules(name, broken=f"{name} is not UTF-8, so nothing beside it is sent: save it as UTF-8")
    lines = [line for line in text.replace("\r", "\n").split("\n") if line]
    try:
        # to git `a/**` means what is in the folder, to pathspec the folder, too; `a/**/*` means the same to both
        spec = GitIgnoreSpec.from_lines([_ALL_WITHIN.sub(r"**/*\1", line) for line in lines])
    except ValueError as error:
        return _Rules(name, broken=f"{name} makes no sense ({error}), so nothing beside it is sent: mend it")
    return _Rules(name, lines, [one for one in spec.patterns if isinstance(one, RegexPattern)])
