"""Which repair templates are there, when do they apply, and how likely is each?

A prior is the chance that one idea of the template is the fix: the share of real one-statement fixes the
pattern has, divided by how many ideas it usually yields for a statement. Shares are those of TSSB-3M (3.33 M
single-statement Python bug fixes, github.com/cedricrupb/TSSB3M: wrong identifier 7.1 %, binary operand 5.2,
more arguments 4.5, wrong function name 4.0, function added around an expression 3.5, wrong attribute 3.1,
numeric literal 2.9, stricter `if` 2.0, method call added 1.8, element added 1.7, fewer arguments 1.5, boolean
literal 1.1, binary operator 0.9, looser `if` 0.66, keyword name 0.6, unary operator 0.45, swapped arguments
0.24) and, where it says nothing, of the 501 patches of BugsInPy (new `if` 38 %, import 9 %, `raise` 8 %, `len(`
test 7 %, try/except 5 %, `.get` 4 %). The numbers order the search; they prove nothing.

Where a template sees more than a pattern (a number in scope that nothing uses, a parameter left at its default
beside a value of its name, a counter that is stepped back nowhere), few statements have ideas at all: the share is
that of the pattern it belongs to (operand, more arguments, element added), the ideas are one or two, and the prior
is higher by as much.

`likely` multiplies a prior when the failure speaks for the template; `only` rows are tried for no other
failure; `exact` rows read the mistake out of the message and go before any search.
"""

from __future__ import annotations

import re

from regreen.templates import (
    api_changes,
    arguments,
    arithmetic,
    asynchronous,
    attributes,
    boolean,
    calls,
    comparison,
    constants,
    containers,
    defaults,
    exceptions,
    guards,
    imports,
    keywords,
    layout,
    loops,
    members,
    names,
    nothing,
    operands,
    regexes,
    returns,
    special,
    statements,
    strings,
    substitutes,
    syntax,
    texts,
)
from regreen.templates.boolean import CONDITIONS
from regreen.templates.model import Template, Trigger


def _set(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


def _raised(*exceptions: str, saying: str = "", crashed: bool = False) -> Trigger:
    return Trigger(exceptions, re.compile(saying) if saying else None, crashed=crashed)


def _differing(*shapes: str) -> Trigger:
    return Trigger(shapes=frozenset({*shapes, *(f"items {shape}" for shape in shapes)}))


_BOOL = _differing("bool")
_OFF_BY_ONE = _differing("off by one")
_ITEMS = _differing("missing items", "extra items")
_ORDER = _differing("order", "reversed", "swapped")
_TEXT = _differing("string")
_BLANKS = _differing("blanks")
_CASE = _differing("case")
_SIGN = _differing("sign")
_NONE = _differing("none")
_KIND = _differing("container", "type", "duplicates", "order", "nearly")
_INDEX = _raised("IndexError", crashed=True)
_UNDEFINED = _raised("NameError")
_UNBOUND = _raised("UnboundLocalError")
_UNBOUND_TEXT = _raised("NameError", saying="variable '")
_HANG = _raised("Timeout")
_KEY = _raised("KeyError", crashed=True)
_NO_ATTRIBUTE = _raised("AttributeError", saying="has no attribute", crashed=True)
_OF_NONE = _raised("AttributeError", "TypeError", saying="NoneType", crashed=True)
_ANY_NONE = _raised("AttributeError", "TypeError", saying="NoneType")
_DEEP = _raised("RecursionError")
_ZERO = _raised("ZeroDivisionError", crashed=True)
_ARGUMENT = _raised("TypeError", saying=r"positional argument|required|takes no arguments|keyword")
_MISSING_ARGUMENT = _raised("TypeError", saying=r"missing \d+ required")
_TOO_MANY = _raised("TypeError", saying=r"takes .*arguments?")
_KEYWORD = _raised("TypeError", saying="unexpected keyword argument")
_MIXED = _raised(
    "TypeError",
    saying="concatenate|unsupported operand|must be str|not supported between|JSON serializable|expected str|integer",
    crashed=True,
)
_BYTES = _raised("TypeError", saying="byte|encoded before", crashed=True)
_NOT_CALLABLE = _raised("TypeError", saying="not callable", crashed=True)
_UNPACK = _raised("ValueError", "TypeError", saying="unpack", crashed=True)
_LITERAL = _raised("ValueError", saying="invalid literal|could not convert", crashed=True)
_CHANGED = _raised("RuntimeError", saying="changed size", crashed=True)
_EMPTY = _raised("ValueError", "IndexError", "StopIteration", saying="empty|^$", crashed=True)
_IMPORT = _raised("ImportError", "ModuleNotFoundError")
_CIRCULAR = _raised("AttributeError", saying="circular")
_OF_MODULE = _raised("AttributeError", saying="^module ")
_NOT_RAISED = _raised(saying="DID NOT RAISE|not raised")
_SYNTAX = _raised("SyntaxError", "IndentationError", "TabError")
_FUNCTION = Trigger(message=re.compile(r"<(?:bound method|function|class|built-in) "))
_COROUTINE = Trigger(message=re.compile("coroutine|was never awaited"))
_ENCODING = _raised("UnicodeDecodeError", "UnicodeEncodeError")
_SHARED = _raised("ValueError", saying="mutable default")
_OUTSIDE = _raised("SyntaxError", saying="outside (?:async )?function")
_AWAITED = _raised("TypeError", saying="'await' expression")
_ASYNC = _raised("TypeError", "AttributeError", saying="async|coroutine|__a?enter__|context manager")
_SCALAR = _raised("TypeError", saying="iterable", crashed=True)

_NAMES = _set("identifier")
_CALLS = _set("call")
_ITEM = _set("subscript")
_STRINGS = _set("string")
_RETURN = _set("return_statement")


CATALOGUE: tuple[Template, ...] = (
    # comparison: TSSB binary operator 0.9 %, over two or three ideas; more in tests of boundaries
    Template("comparison.boundary", 0.0050, comparison.boundary, comparison.KINDS, likely=((_OFF_BY_ONE, 2), (_ITEMS, 2), (_INDEX, 3), (_BOOL, 2))),
    Template("comparison.operator", 0.0050, comparison.operator, comparison.KINDS, likely=((_BOOL, 2), (_ITEMS, 1.5))),
    Template("comparison.identity", 0.0100, comparison.identity, comparison.KINDS),
    Template("comparison.offset", 0.0014, comparison.offset, comparison.KINDS, likely=((_OFF_BY_ONE, 2), (_INDEX, 3))),
    Template("comparison.both_sides", 0.0012, comparison.both_sides, comparison.KINDS, likely=((_BOOL, 2),)),
    # arithmetic: TSSB binary operator 0.9 %, binary operand 5.2 %, unary operator 0.45 %
    Template("arithmetic.operator", 0.0040, arithmetic.operator, arithmetic.KINDS),
    Template("arithmetic.augmented", 0.0040, arithmetic.augmented, _set("augmented_assignment", "assignment")),
    Template("arithmetic.swap_operands", 0.0030, arithmetic.swap_operands, arithmetic.KINDS, likely=((_SIGN, 3),)),
    Template("arithmetic.drop_operand", 0.0040, arithmetic.drop_operand, arithmetic.KINDS),
    Template("arithmetic.off_by_one", 0.0035, arithmetic.off_by_one, likely=((_OFF_BY_ONE, 2), (_ITEMS, 1.5), (_INDEX, 2))),
    Template("arithmetic.regroup", 0.0020, arithmetic.regroup, arithmetic.KINDS),
    Template("arithmetic.add_operand", 0.0120, operands.add_operand, likely=((_BOOL, 1.5),)),
    Template("arithmetic.clamp", 0.0016, operands.clamp, arithmetic.KINDS, likely=((_INDEX, 4), (_ITEMS, 2), (_SIGN, 2))),
    Template("arithmetic.sign", 0.0012, arithmetic.sign, likely=((_SIGN, 3),)),
    # boolean: TSSB boolean literal 1.1 %, stricter `if` 2.0 %, looser `if` 0.66 %; BugsInPy and/or 25 %
    Template("boolean.operator", 0.0050, boolean.operator, _set("boolean_operator"), likely=((_BOOL, 2),)),
    Template("boolean.negate", 0.0030, boolean.negate, CONDITIONS | {"keyword_argument", "if_clause"}, likely=((_BOOL, 2),)),
    Template("boolean.drop_operand", 0.0030, boolean.drop_operand, _set("boolean_operator")),
    Template("boolean.constant", 0.0060, boolean.constant, _set("true", "false"), likely=((_BOOL, 2),)),
    Template("boolean.all_constants", 0.0030, boolean.all_constants, likely=((_BOOL, 3),), once=True),
    Template("boolean.sibling_operand", 0.0025, boolean.sibling_operand, _set("boolean_operator")),
    Template("boolean.add_operand", 0.0008, boolean.add_operand, CONDITIONS),
    Template("boolean.regroup", 0.0020, boolean.regroup, CONDITIONS),
    # constants: TSSB numeric literal 2.9 %, half of them off by one
    Template("constants.number", 0.0045, constants.number, constants.KINDS, likely=((_OFF_BY_ONE, 1.5),)),
    Template("constants.used_elsewhere", 0.0040, constants.used_elsewhere, constants.KINDS),
    Template("constants.unit", 0.0040, constants.unit, constants.KINDS),
    Template("constants.expected", 0.0012, constants.expected, constants.KINDS, kind="literal"),
    Template("constants.everywhere", 0.0010, constants.everywhere, once=True),
    # strings: string and pattern literals are the commonest small fix of real projects
    Template("strings.repair", 0.0120, strings.repair, _STRINGS, likely=((_TEXT, 2),)),
    Template("strings.near_miss", 0.0100, strings.near_miss, _STRINGS),
    Template("strings.prefix", 0.0080, strings.prefix, _STRINGS),
    Template("strings.quoted_name", 0.0060, strings.quoted_name, _STRINGS),
    Template("strings.characters", 0.0020, strings.characters, _STRINGS, likely=((_BLANKS, 3), (_CASE, 2), (_TEXT, 1.5))),
    Template("strings.from_pool", 0.0020, strings.from_pool, _STRINGS, likely=((_BLANKS, 2), (_TEXT, 1.5))),
    Template("strings.everywhere", 0.0010, strings.everywhere, once=True, likely=((_BLANKS, 3), (_TEXT, 2))),
    # names: TSSB wrong identifier 7.1 %, over the five likeliest names of a statement, half of it for the others
    Template("names.typo", 0.50, names.typo, _NAMES, only=(_UNDEFINED,), exact=True),
    Template("names.missing_self", 0.45, names.missing_self, _NAMES, only=(_UNDEFINED,), exact=True),
    Template("names.outer_declaration", 0.40, names.outer_declaration, only=(_UNBOUND, _UNBOUND_TEXT), exact=True, once=True),
    Template("names.initialise", 0.30, names.initialise, only=(_UNBOUND, _UNBOUND_TEXT), exact=True, once=True),
    Template("names.wrong_variable", 0.0110, substitutes.wrong_variable, _NAMES),
    Template("names.wrong_target", 0.0035, names.wrong_target, _set("assignment", "augmented_assignment")),
    Template("names.exchanged", 0.0030, names.exchanged, _NAMES, likely=((_ORDER, 2),)),
    Template("names.to_length", 0.0015, names.to_length),
    # attributes, four of a statement before the others: TSSB wrong attribute 3.1 %, attribute access added 1.0 %
    Template("attributes.typo", 0.50, attributes.typo, attributes.KINDS, only=(_NO_ATTRIBUTE,), exact=True),
    Template("attributes.foreign", 0.60, attributes.foreign, attributes.KINDS, only=(_NO_ATTRIBUTE,), exact=True),
    Template("attributes.wrong", 0.0060, substitutes.wrong_attribute, attributes.KINDS),
    Template("attributes.access", 0.0015, attributes.access, _NAMES),
    Template("attributes.call_it", 0.0100, attributes.call_it, _NAMES, likely=((_FUNCTION, 5),)),
    Template("attributes.not_a_call", 0.20, attributes.not_a_call, _CALLS, only=(_NOT_CALLABLE,), exact=True),
    Template("attributes.of_module", 0.0120, members.other, members.KINDS),
    # arguments: TSSB more 4.5 %, fewer 1.5 %, keyword name 0.6 %, swapped 0.24 %
    Template("arguments.missing", 0.50, arguments.missing, _CALLS, only=(_MISSING_ARGUMENT,), exact=True),
    Template("arguments.missing_self", 0.45, arguments.missing_self, only=(_TOO_MANY, _MISSING_ARGUMENT), exact=True, once=True),
    Template("arguments.keyword", 0.50, arguments.keyword, _CALLS, only=(_KEYWORD,), exact=True),
    Template("arguments.too_many", 0.30, arguments.too_many, _CALLS, only=(_TOO_MANY,), exact=True),
    Template("arguments.optional", 0.20, arguments.optional, only=(_MISSING_ARGUMENT,), exact=True, once=True),
    Template("arguments.swapped", 0.0040, arguments.swapped, _CALLS),
    Template("arguments.dropped", 0.0020, arguments.dropped, _CALLS, likely=((_ARGUMENT, 3),)),
    Template("arguments.added", 0.0050, arguments.added, _CALLS, likely=((_ARGUMENT, 3),)),
    Template("arguments.namesake", 0.0300, keywords.namesake, _CALLS),
    Template("arguments.elsewhere", 0.0300, keywords.elsewhere, _CALLS),
    Template("arguments.saved", 0.0100, keywords.saved, _CALLS),
    Template("arguments.known", 0.0020, arguments.known, _CALLS, likely=((_ORDER, 2), (_ENCODING, 20), (_EMPTY, 10))),
    # calls: TSSB wrong function name 4.0 %, function added around 3.5 %, method call added 1.8 %
    Template("calls.confusable", 0.0060, calls.confusable, _CALLS | attributes.KINDS),
    Template("calls.in_place", 0.0300, calls.in_place, _CALLS),
    Template("calls.unwrap", 0.0030, calls.unwrap, _CALLS, likely=((_KIND, 2), (_NOT_CALLABLE, 3))),
    Template("calls.wrap", 0.0018, calls.wrap, likely=((_MIXED, 10), (_KIND, 3), (_CHANGED, 10), (_SIGN, 2))),
    Template("calls.method", 0.0012, calls.method, likely=((_CASE, 4), (_BLANKS, 3), (_LITERAL, 5), (_UNPACK, 3))),
    Template("calls.text_method", 0.0050, texts.text_method, likely=((_CASE, 6), (_BLANKS, 4), (_TEXT, 1.5))),
    Template("calls.order", 0.0060, texts.order, likely=((_ORDER, 4), (_KIND, 2))),
    Template("calls.encode", 0.0500, calls.encode, only=(_BYTES,)),
    Template("calls.aggregate", 0.0015, calls.aggregate, _ITEM),
    # guards: BugsInPy new `if` 38 %, `is None` test 10 %, `len(` test 7 %, over very many places and conditions
    Template("guards.none_default", 0.0150, nothing.none_default, only=(_OF_NONE,), kind="guard"),
    Template("guards.none_condition", 0.0150, nothing.none_condition, CONDITIONS, only=(_OF_NONE,), kind="guard"),
    Template("guards.none_exit", 0.0100, nothing.none_exit, only=(_OF_NONE,), kind="guard"),
    Template("guards.zero", 0.0150, guards.zero, only=(_ZERO,), kind="guard"),
    Template("guards.index", 0.0060, guards.index, _ITEM, only=(_INDEX,), kind="guard"),
    Template("guards.key", 0.0050, guards.key, _ITEM, only=(_KEY,), kind="guard"),
    Template("guards.of_type", 0.0150, guards.of_type, only=(_NO_ATTRIBUTE,), kind="guard"),
    Template("guards.base_case", 0.0100, guards.base_case, only=(_DEEP,)),
    Template("guards.smaller_argument", 0.0200, guards.smaller_argument, _CALLS, only=(_DEEP,)),
    Template("guards.raise_missing", 0.0200, guards.raise_missing, only=(_NOT_RAISED,)),
    Template("guards.around", 0.0008, guards.around, kind="guard"),
    Template("guards.early_exit", 0.0005, guards.early_exit, kind="guard"),
    Template("guards.special_case", 0.0150, special.special_case),
    # imports: BugsInPy import added 9 %
    Template("imports.missing", 0.55, imports.missing, only=(_UNDEFINED,), exact=True, once=True),
    Template("imports.undefined", 0.45, imports.undefined, exact=True, once=True),
    Template("imports.wrong", 0.50, imports.wrong, only=(_IMPORT,), exact=True, once=True),
    Template("imports.module", 0.50, imports.module, only=(_IMPORT,), exact=True, once=True),
    Template("imports.local", 0.60, imports.local, only=(_IMPORT, _CIRCULAR), exact=True, once=True),
    Template("imports.provide", 0.40, imports.provide, only=(_IMPORT, _OF_MODULE), exact=True, once=True),
    # returns
    Template("returns.missing", 0.0080, returns.missing, once=True, likely=((_NONE, 8), (_ANY_NONE, 2))),
    Template("returns.other", 0.0025, returns.other, _RETURN, likely=((_NONE, 2),)),
    Template("returns.constant", 0.0020, returns.constant, _RETURN, likely=((_NONE, 2),)),
    Template("returns.expected", 0.0008, returns.expected, _RETURN, kind="literal"),
    # defaults: rare in patches, common in review (ruff B006, B023)
    Template("defaults.mutable", 0.0200, defaults.mutable, once=True),
    Template("defaults.late_binding", 0.0200, defaults.late_binding),
    Template("defaults.shared_attribute", 0.0100, defaults.shared_attribute, once=True),
    Template("defaults.dataclass_field", 0.60, defaults.dataclass_field, only=(_SHARED,), exact=True, once=True),
    # asynchronous: `await` 0.4 % of BugsInPy
    Template("asynchronous.missing_await", 0.0400, asynchronous.missing_await, _CALLS, likely=((_COROUTINE, 10),)),
    Template("asynchronous.make_async", 0.60, asynchronous.make_async, only=(_OUTSIDE,), exact=True, once=True),
    Template("asynchronous.drop_await", 0.50, asynchronous.drop_await, _set("await"), only=(_AWAITED,), exact=True),
    Template("asynchronous.make_sync", 0.0200, asynchronous.make_sync, once=True, likely=((_COROUTINE, 10),)),
    Template("asynchronous.loops_and_contexts", 0.30, asynchronous.loops_and_contexts, only=(_ASYNC,), exact=True),
    Template("asynchronous.comprehension", 0.30, asynchronous.comprehension, _set("for_in_clause"), only=(_ASYNC,), exact=True),
    # changed library APIs: the trigger is the text of the message
    Template("api_changes.changed", 0.90, api_changes.changed, exact=True, once=True),
    # syntax: judged by whether the text is Python afterwards
    Template("syntax.colon", 0.80, syntax.colon, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.bracket", 0.70, syntax.bracket, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.quote", 0.70, syntax.quote, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.habit", 0.75, syntax.habit, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.indentation", 0.65, layout.indentation, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.comma", 0.60, syntax.comma, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.misspelt_keyword", 0.70, syntax.misspelt_keyword, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.empty_block", 0.40, layout.empty_block, only=(_SYNTAX,), exact=True, once=True),
    Template("syntax.default_order", 0.70, syntax.default_order, only=(_raised("SyntaxError", saying="default"),), exact=True, once=True),
    Template("syntax.argument_order", 0.70, syntax.argument_order, only=(_raised("SyntaxError", saying="follows keyword"),), exact=True, once=True),
    Template("syntax.nested_quotes", 0.60, syntax.nested_quotes, only=(_raised("SyntaxError", saying="f-string|unterminated|unmatched"),), exact=True, once=True),
    # loops
    Template("loops.progress", 0.0400, loops.progress, _set("while_statement"), only=(_HANG,)),
    Template("loops.step_in_block", 0.0200, loops.step_in_block, only=(_HANG,)),
    Template("loops.exits", 0.0080, loops.exits, _set("break_statement", "continue_statement", "pass_statement")),
    Template("loops.stop", 0.0008, loops.stop, likely=((_HANG, 10), (_ITEMS, 1.5)), kind="guard"),
    Template("loops.copy", 0.0300, loops.copy, _set("for_statement", "for_in_clause"), only=(_CHANGED, _ITEMS, _NONE, _INDEX)),
    Template("loops.unpacking", 0.0060, loops.unpacking, likely=((_UNPACK, 10), (_SCALAR, 5))),
    Template("loops.bounds", 0.0025, loops.bounds, _CALLS, likely=((_INDEX, 2), (_ITEMS, 1.5))),
    Template("loops.accumulated", 0.0150, loops.accumulated, _set("assignment")),
    Template("loops.while_if", 0.0010, loops.while_if, _set("if_statement", "while_statement"), likely=((_HANG, 5),)),
    # containers: BugsInPy `.get` or a default added 4 %; TSSB element added 1.7 %
    Template("containers.key_typo", 0.50, containers.key_typo, _STRINGS, only=(_raised("KeyError"),), exact=True),
    Template("containers.get", 0.0200, containers.get, _ITEM, only=(_KEY,), kind="guard"),
    Template("containers.first_value", 0.0500, containers.first_value, _ITEM, only=(_KEY,)),
    Template("containers.part", 0.0012, containers.part, likely=((_ITEMS, 2), (_differing("reversed"), 4))),
    Template("containers.bounds", 0.0020, containers.bounds, _ITEM, likely=((_INDEX, 2), (_ITEMS, 2), (_TEXT, 2))),
    Template("containers.elements", 0.0025, containers.elements, _set("list", "tuple", "set", "expression_list")),
    Template("containers.missing_element", 0.0030, containers.missing_element, kind="literal"),
    Template("containers.appended_order", 0.0020, containers.appended_order, _CALLS, likely=((_ORDER, 3),)),
    Template("containers.empty_start", 0.0015, containers.empty_start, _set("assignment"), likely=((_KIND, 3), (_NO_ATTRIBUTE, 3))),
    # exceptions: BugsInPy raise added 8 %, try/except 5 %
    Template("exceptions.raised_type", 0.30, exceptions.raised_type, _set("raise_statement"), exact=True),
    Template("exceptions.converted", 0.0500, exceptions.converted),
    Template("exceptions.widened", 0.0150, exceptions.widened),
    Template("exceptions.other_type", 0.0030, exceptions.other_type),
    Template("exceptions.swallowed", 0.0040, exceptions.swallowed, likely=((_NOT_RAISED, 10),)),
    Template("exceptions.instead_of_return", 0.0500, exceptions.instead_of_return, _RETURN, only=(_NOT_RAISED,)),
    Template("exceptions.caught", 0.0040, exceptions.caught, kind="guard"),
    Template("exceptions.foreseen", 0.0030, exceptions.foreseen, _CALLS, kind="guard"),
    # regular expressions: BugsInPy 8 % touch one
    Template("regexes.pattern", 0.0040, regexes.pattern, _STRINGS),
    # whole statements
    Template("statements.out_of_else", 0.0100, statements.out_of_else),
    Template("statements.outdent", 0.0060, statements.outdent),
    Template("statements.indent", 0.0030, statements.indent),
    Template("statements.exchange_neighbours", 0.0020, statements.exchange_neighbours),
    Template("statements.sibling", 0.0020, statements.sibling, _set("expression_statement")),
    Template("statements.borrowed", 0.0008, statements.borrowed),
    Template("statements.counter", 0.0060, special.counter, likely=((_OFF_BY_ONE, 2), (_INDEX, 2))),
    Template("statements.delete", 0.0020, statements.delete, kind="deletion"),
)  # fmt: skip
