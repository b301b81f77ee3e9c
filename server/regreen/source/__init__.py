"""What does Python text say, even when it does not parse, and whatever Python it was written for?

`node`: a tree with code point offsets. `reuse`: what of it another text needs not parse again. `file`: what one file holds. `names`: which names a piece
of code reads and binds.
`project`: what the files of a project define between them. Parsing is tree-sitter's, so nothing here
depends on the Python that Regreen itself runs on, and nothing is ever executed.
"""

from regreen.source.definitions import Class, Function, Import, Parameter, docstring, imports_of, signature
from regreen.source.file import SourceFile, parse
from regreen.source.names import Names, Role, names, role_of
from regreen.source.node import BLOCKS, CLAUSES, STATEMENTS, ErrorSpan, Node
from regreen.source.project import ProjectSources

__all__ = [
    "BLOCKS",
    "CLAUSES",
    "STATEMENTS",
    "Class",
    "ErrorSpan",
    "Function",
    "Import",
    "Names",
    "Node",
    "Parameter",
    "ProjectSources",
    "Role",
    "SourceFile",
    "docstring",
    "imports_of",
    "names",
    "parse",
    "role_of",
    "signature",
]
