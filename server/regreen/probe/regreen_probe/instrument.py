"""How is a project file compiled with something of ours in it?"""

from __future__ import annotations

import ast
import types
import warnings

from regreen_probe import canary, digging, holes, markers


def compiled(
    path: str,
    source: bytes,
    *,
    table: markers.Table | None = None,
    cage: canary.Cage | None = None,
    sampler: holes.Sampler | None = None,
) -> types.CodeType:
    """Compile a file, with statement markers when there is a `table`, canaries when there is a `cage`, and holes when
    there is a `sampler`.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as compile() does.
    """
    with warnings.catch_warnings():
        # A cached .pyc would be silent, too: the project's warning filters must not make this an error.
        warnings.simplefilter("ignore")
        if table is None and cage is None and sampler is None:
            return compile(source, path, "exec", dont_inherit=True)
        values: dict[str, object] = {}
        try:
            tree = ast.parse(source, path)
            if sampler is not None:
                values.update(digging.dig(sampler, tree, path, source))
            if cage is not None:
                cage.insert(tree, path)
                values[canary.PLACE] = cage.arrive
            if table is not None:
                markers.mark(tree, table)
                values[markers.PLACE] = table.hits
            code = compile(tree, path, "exec", dont_inherit=True)
        except RecursionError:  # an expression of a depth that only the parser itself can handle
            return compile(source, path, "exec", dont_inherit=True)
    return with_constants(code, values)


def with_constants(code: types.CodeType, values: dict[str, object]) -> types.CodeType:
    """The code with placeholder strings replaced by objects, in nested code, too.

    So nothing of ours needs a name in any namespace of the project.
    """

    def constant(value: object) -> object:
        if isinstance(value, types.CodeType):
            return with_constants(value, values)
        return values.get(value, value) if isinstance(value, str) else value

    return code.replace(co_consts=tuple(constant(value) for value in code.co_consts))


def functions(code: types.CodeType, first: int, name: str) -> list[types.CodeType]:
    """The code objects in a file's code of the functions of a name that start at a line, decorators included."""
    found = [code] if (code.co_firstlineno, code.co_name) == (first, name) else []
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            found += functions(value, first, name)
    return found
