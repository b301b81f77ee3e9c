"""Of which operations are expressions made, on which kinds of values, and how are they written?

Only of operations of built-in types that change nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from regreen_probe.frozen import BITS, LONGEST

# How tightly an expression binds, as the grammar has it.
CHOICE, OR, AND, NOT, COMPARISON, BIT_OR, BIT_AND, SUM, PRODUCT, SIGN, POWER, ATOM = range(12)

NUMBER, TEXT, LIST, TUPLE, SET, DICT, FLAG, ANY = (
    "number", "str", "list", "tuple", "set", "dict", "bool", "",
)  # fmt: skip
SEQUENCES = (TEXT, LIST, TUPLE)
SIZED = (TEXT, LIST, TUPLE, SET, DICT)

KINDS = {
    int: NUMBER, float: NUMBER, bool: FLAG, str: TEXT, list: LIST, tuple: TUPLE, set: SET, frozenset: SET, dict: DICT,
}  # fmt: skip


class Production:
    """One way to make an expression of others.

    Args:
        form: the text, with `{}` for each operand.
        binds: how tightly it does.
        needs: of each operand, how tightly it has to bind to stand without parentheses.
        kinds: of each operand, the kinds of values it is applied to; empty for any but flags.
        run: computes it.
        symmetric: with the operands exchanged it is not worth a try: it is the same, or another one's opposite.
    """

    def __init__(
        self,
        form: str,
        run: Callable[..., object],
        kinds: tuple[tuple[str, ...], ...],
        binds: int = ATOM,
        needs: tuple[int, ...] | None = None,
        *,
        symmetric: bool = False,
    ) -> None:
        self.form = form
        self.run = run
        self.kinds = kinds
        self.binds = binds
        self.needs = needs if needs is not None else (CHOICE,) * len(kinds)
        self.symmetric = symmetric


def _times(one, other):
    if not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        size, count = (len(one), other) if hasattr(one, "__len__") else (len(other), one)
        if size * count > LONGEST:
            raise OverflowError
    return one * other


def _power(base, exponent):
    if abs(exponent) > 64 or (isinstance(base, int) and base.bit_length() * abs(exponent) > BITS):
        raise OverflowError
    return base**exponent


def _unary() -> list[Production]:
    number, text = (NUMBER,), (TEXT,)
    made = [
        Production("len({})", len, (SIZED,)),
        Production("-{}", operator.neg, (number,), SIGN, (SIGN,)),
        Production("abs({})", abs, (number,)),
        Production("int({})", int, ((NUMBER, TEXT),)),
        Production("str({})", str, (number,)),
        Production("bin({})", bin, (number,)),
        Production("chr({})", chr, (number,)),
        Production("ord({})", ord, (text,)),
        Production("not {}", operator.not_, ((FLAG, *SIZED),), NOT, (ATOM,)),
        Production("sum({})", sum, ((LIST, TUPLE),)),
        Production("min({})", min, ((LIST, TUPLE, SET),)),
        Production("max({})", max, ((LIST, TUPLE, SET),)),
        Production("sorted({})", sorted, ((LIST, TUPLE, SET),)),
        Production("set({})", set, ((LIST, TUPLE, TEXT),)),
        Production("list({})", list, ((TUPLE, TEXT),)),
        Production("tuple({})", tuple, ((LIST,),)),
        Production("any({})", any, ((LIST, TUPLE),)),
        Production("all({})", all, ((LIST, TUPLE),)),
        Production("list({}.values())", lambda d: list(d.values()), ((DICT,),), needs=(ATOM,)),
        Production("list({}.keys())", lambda d: list(d.keys()), ((DICT,),), needs=(ATOM,)),
        Production("{}[0]", lambda s: s[0], (SEQUENCES,), needs=(ATOM,)),
        Production("{}[-1]", lambda s: s[-1], (SEQUENCES,), needs=(ATOM,)),
        Production("{}[1:]", lambda s: s[1:], (SEQUENCES,), needs=(ATOM,)),
        Production("{}[:-1]", lambda s: s[:-1], (SEQUENCES,), needs=(ATOM,)),
        Production("{}[::-1]", lambda s: s[::-1], (SEQUENCES,), needs=(ATOM,)),
    ]
    made += [
        Production(f"{{}}.{name}()", operator.methodcaller(name), (text,), needs=(ATOM,)) for name in _METHODS
    ]
    return made


_METHODS = (
    "lower", "upper", "strip", "split", "swapcase", "title", "isdigit", "isalpha", "isupper", "islower",
)  # fmt: skip


def _binary() -> list[Production]:
    numbers = ((NUMBER,), (NUMBER,))
    texts = ((TEXT,), (TEXT,))
    made = [
        Production("{} + {}", operator.add, numbers, SUM, (SUM, PRODUCT), symmetric=True),
        Production("{} - {}", operator.sub, numbers, SUM, (SUM, PRODUCT)),
        Production("{} * {}", _times, numbers, PRODUCT, (PRODUCT, SIGN), symmetric=True),
        Production("{} // {}", operator.floordiv, numbers, PRODUCT, (PRODUCT, SIGN)),
        Production("{} / {}", operator.truediv, numbers, PRODUCT, (PRODUCT, SIGN)),
        Production("{} % {}", operator.mod, numbers, PRODUCT, (PRODUCT, SIGN)),
        Production("{} ** {}", _power, numbers, POWER, (ATOM, SIGN)),
        Production("min({}, {})", min, numbers, symmetric=True),
        Production("max({}, {})", max, numbers, symmetric=True),
        Production("{}[{}]", operator.getitem, (SEQUENCES, (NUMBER,)), needs=(ATOM, CHOICE)),
        Production("{}[{}:]", lambda s, i: s[i:], (SEQUENCES, (NUMBER,)), needs=(ATOM, CHOICE)),
        Production("{}[:{}]", lambda s, i: s[:i], (SEQUENCES, (NUMBER,)), needs=(ATOM, CHOICE)),
        Production("{} * {}", _times, (SEQUENCES, (NUMBER,)), PRODUCT, (PRODUCT, SIGN)),
        Production("{}.count({})", lambda s, x: s.count(x), texts, needs=(ATOM, CHOICE)),
        Production("{}.find({})", lambda s, x: s.find(x), texts, needs=(ATOM, CHOICE)),
        Production("{}.split({})", lambda s, x: s.split(x), texts, needs=(ATOM, CHOICE)),
        Production("{}.startswith({})", lambda s, x: s.startswith(x), texts, needs=(ATOM, CHOICE)),
        Production("{}.endswith({})", lambda s, x: s.endswith(x), texts, needs=(ATOM, CHOICE)),
        Production("{}.join({})", lambda s, x: s.join(x), ((TEXT,), (LIST, TUPLE)), needs=(ATOM, CHOICE)),
        Production("{}.count({})", lambda s, x: s.count(x), ((LIST, TUPLE), ()), needs=(ATOM, CHOICE)),
        Production("{}.index({})", lambda s, x: s.index(x), ((LIST, TUPLE), ()), needs=(ATOM, CHOICE)),
        Production("{}[{}]", operator.getitem, ((DICT,), ()), needs=(ATOM, CHOICE)),
        Production("{}.get({})", lambda d, k: d.get(k), ((DICT,), ()), needs=(ATOM, CHOICE)),
        Production("{} | {}", operator.or_, ((SET,), (SET,)), BIT_OR, (BIT_OR, BIT_AND), symmetric=True),
        Production("{} & {}", operator.and_, ((SET,), (SET,)), BIT_AND, (BIT_AND, SUM), symmetric=True),
        Production("{} - {}", operator.sub, ((SET,), (SET,)), SUM, (SUM, PRODUCT)),
    ]
    made += [
        Production("{} + {}", operator.add, ((kind,), (kind,)), SUM, (SUM, PRODUCT)) for kind in SEQUENCES
    ]
    flags = ((FLAG,), (FLAG,))
    made += [
        Production("{} and {}", lambda one, other: one and other, flags, AND, (AND, NOT), symmetric=True),
        Production("{} or {}", lambda one, other: one or other, flags, OR, (OR, AND), symmetric=True),
    ]
    sides = (BIT_OR, BIT_OR)
    for kind in (NUMBER, TEXT, LIST, TUPLE, SET, DICT):
        for sign, run in (("==", operator.eq), ("!=", operator.ne)):
            made.append(
                Production(f"{{}} {sign} {{}}", run, ((kind,), (kind,)), COMPARISON, sides, symmetric=True)
            )
    for kind in (NUMBER, TEXT, LIST, TUPLE):
        for sign, run in (("<", operator.lt), ("<=", operator.le), (">", operator.gt), (">=", operator.ge)):
            made.append(
                Production(f"{{}} {sign} {{}}", run, ((kind,), (kind,)), COMPARISON, sides, symmetric=True)
            )
    for container, item in ((TEXT, (TEXT,)), (LIST, ()), (TUPLE, ()), (SET, ()), (DICT, ())):
        made.append(Production("{} in {}", lambda x, s: x in s, (item, (container,)), COMPARISON, sides))
        made.append(
            Production("{} not in {}", lambda x, s: x not in s, (item, (container,)), COMPARISON, sides)
        )
    return made


UNARY = _unary()
BINARY = _binary()
