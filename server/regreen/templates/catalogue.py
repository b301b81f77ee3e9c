"""Which repair templates are there, when do they apply, and how likely is each?

A prior is the chance that one idea of the template is the fix: the share of real one-statement fixes the
pattern has, divided by how many ideas it usually yields for a statement. Shares are those of TSSB-3M (3.33 M
single-statement Python bug fixes, github.com/cedricrupb/TSSB3M: wrong identifier 7.1 %, binary operand 5.2,
more arguments 4.5, wrong function name 4.0, function added around an expression 3.5, wrong attribute 3.1,
numeric literal 2.9, stricter `if` 2.0, method call added 1.8, element added 1.7, fewer arguments 1.5, boolean
literal 1.1, binary operator 0.9, looser `if` 0.66, keyword name 0.6, unary operator 0.45, swapped arguments
0.24) and, where it says nothing, of the 501 patches of BugsInPy (new `if` 38 %, import 9 %, `raise` 8 %, `len(`
test 7 %, try/except 5 %, `.get` 4 %). Per mille throughout; the numbers order the search, they prove nothing.
"""

from __future__ import annotations

import re

from regreen.templates import arithmetic, boolean, comparison, constants, names
from regreen.templates.boolean import CONDITIONS
from regreen.templates.model import Template, Trigger

_BOOL = Trigger(shapes=frozenset({"bool", "items bool"}))
_OFF_BY_ONE = Trigger(shapes=frozenset({"off by one", "items off by one"}))
_ITEMS = Trigger(shapes=frozenset({"missing items", "extra items"}))
_INDEX = Trigger(exception=("IndexError",), crashed=True)
_UNDEFINED = Trigger(exception=("NameError",))
_UNBOUND = Trigger(exception=("UnboundLocalError",))
_UNBOUND_TEXT = Trigger(exception=("NameError", "UnboundLocalError"), message=re.compile("local variable"))
_HANG = Trigger(exception=("Timeout",))
_SIGN = Trigger(shapes=frozenset({"sign", "items sign"}))


def _set(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


CATALOGUE: tuple[Template, ...] = (
    # comparison
    Template("comparison.boundary", 0.0050, comparison.boundary, comparison.KINDS, likely=((_OFF_BY_ONE, 2), (_ITEMS, 2), (_INDEX, 3), (_BOOL, 2))),
    Template("comparison.operator", 0.0050, comparison.operator, comparison.KINDS, likely=((_BOOL, 2), (_ITEMS, 1.5))),
    Template("comparison.identity", 0.0100, comparison.identity, comparison.KINDS),
    Template("comparison.offset", 0.0014, comparison.offset, comparison.KINDS, likely=((_OFF_BY_ONE, 2), (_INDEX, 3))),
    Template("comparison.both_sides", 0.0012, comparison.both_sides, comparison.KINDS, likely=((_BOOL, 2),)),
    # arithmetic
    Template("arithmetic.operator", 0.0040, arithmetic.operator, arithmetic.KINDS),
    Template("arithmetic.augmented", 0.0040, arithmetic.augmented, _set("augmented_assignment", "assignment")),
    Template("arithmetic.swap_operands", 0.0030, arithmetic.swap_operands, arithmetic.KINDS, likely=((_SIGN, 3),)),
    Template("arithmetic.drop_operand", 0.0040, arithmetic.drop_operand, arithmetic.KINDS),
    Template("arithmetic.off_by_one", 0.0035, arithmetic.off_by_one, likely=((_OFF_BY_ONE, 2), (_ITEMS, 1.5), (_INDEX, 2))),
    Template("arithmetic.regroup", 0.0020, arithmetic.regroup, arithmetic.KINDS),
    Template("arithmetic.sign", 0.0012, arithmetic.sign, likely=((_SIGN, 3),)),
    # boolean
    Template("boolean.operator", 0.0050, boolean.operator, _set("boolean_operator"), likely=((_BOOL, 2),)),
    Template("boolean.negate", 0.0030, boolean.negate, CONDITIONS, likely=((_BOOL, 2),)),
    Template("boolean.drop_operand", 0.0030, boolean.drop_operand, _set("boolean_operator")),
    Template("boolean.constant", 0.0060, boolean.constant, _set("true", "false"), likely=((_BOOL, 2),)),
    Template("boolean.all_constants", 0.0030, boolean.all_constants, likely=((_BOOL, 3),), once=True),
    Template("boolean.sibling_operand", 0.0025, boolean.sibling_operand, _set("boolean_operator")),
    Template("boolean.add_operand", 0.0008, boolean.add_operand, CONDITIONS),
    Template("boolean.regroup", 0.0020, boolean.regroup, CONDITIONS),
    # constants
    Template("constants.number", 0.0045, constants.number, constants.KINDS, likely=((_OFF_BY_ONE, 1.5),)),
    Template("constants.used_elsewhere", 0.0015, constants.used_elsewhere, constants.KINDS),
    Template("constants.expected", 0.0012, constants.expected, constants.KINDS, kind="literal"),
    Template("constants.everywhere", 0.0010, constants.everywhere, once=True),
    # names
    Template("names.typo", 0.50, names.typo, names.KINDS, only=(_UNDEFINED,), exact=True),
    Template("names.missing_self", 0.45, names.missing_self, names.KINDS, only=(_UNDEFINED,), exact=True),
    Template("names.outer_declaration", 0.40, names.outer_declaration, only=(_UNBOUND, _UNBOUND_TEXT), exact=True, once=True),
    Template("names.initialise", 0.30, names.initialise, only=(_UNBOUND, _UNBOUND_TEXT), exact=True, once=True),
    Template("names.wrong_variable", 0.0055, names.wrong_variable, names.KINDS),
    Template("names.wrong_target", 0.0035, names.wrong_target, _set("assignment", "augmented_assignment")),
    Template("names.exchanged", 0.0030, names.exchanged, names.KINDS, likely=((Trigger(shapes=_set("swapped")), 3),)),
    Template("names.to_length", 0.0015, names.to_length),
)  # fmt: skip
