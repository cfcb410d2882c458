"""The texts that may stand at the leaves of an assignment, and what they mean.

Each type here is a reader (text → value, or ``ValueError`` saying what was expected) together with what
an editor should know of it (JSON Schema).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from grader.arithmetic import ArithmeticProblem, Expression, parse
from grader.model import Counters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DTYPES = (
    *("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16"),
    *("int32", "uint32", "int64", "uint64"),
)
"""Element and scalar types of kernel parameters, by their NumPy names, and one that NumPy lacks."""

METRICS = tuple(Counters.__dataclass_fields__)
"""The counters that a `traffic` item may look at."""

MAX_EXTENT = 2**31 - 1
"""A dimension fits an ``int``."""

_RESERVED = ("ceil", "floor", "min", "max")
_DECLARATION = re.compile(
    r"(?:(?P<direction>in|out|inout)\s+)?(?P<dtype>[A-Za-z_][A-Za-z0-9_]*)\s*"
    r"(?:\[(?P<extents>.*)\]|=(?P<value>.*))?",
    re.DOTALL,
)


def suggestion(word: str, known: Iterable[str]) -> str:
    """The tail of a message about a word that nobody knows: the nearest known one, or all of them."""
    everything = tuple(known)
    near = get_close_matches(word, everything, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"expected one of {', '.join(everything)}" if everything else "there are none"


_AS_IN_CUDA = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "int": "int32",
    "unsigned": "uint32",
}
"""What types are called in a kernel, and here."""


def _nearest_type(word: str) -> str:
    known = _AS_IN_CUDA.get(word)
    return f"CUDA's `{word}` is `{known}` here" if known in DTYPES else suggestion(word, DTYPES)


def text(value: object, expected: str) -> str:
    """``value`` if it is a text with something in it."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    kinds = {"dict": "a mapping", "list": "a list", "str": "an empty text"}
    found = kinds.get(type(value).__name__, "nothing")
    raise ValueError(f"expected {expected}, found {found}")


def _matching(pattern: str, expected: str) -> Callable[[object], str]:
    compiled = re.compile(pattern)

    def read(value: object) -> str:
        found = text(value, expected)
        if not compiled.fullmatch(found):
            raise ValueError(f"expected {expected}, found `{found}`")
        return found

    return read


def _sentence(value: object) -> str:
    found = text(value, "a text")
    if any(not character.isprintable() and character != "\n" for character in found):
        raise ValueError("expected a text without control characters")
    return found


def _name(value: object) -> str:
    found = _matching(r"[A-Za-z_][A-Za-z0-9_]*", "a name as C has them")(value)
    if found in _RESERVED:
        raise ValueError(f"`{found}` is a function in expressions; expected another name")
    return found


def _whole(value: object, highest: int = MAX_EXTENT) -> int:
    found = text(value, "a whole number")
    if not re.fullmatch(r"[0-9]{1,18}", found) or not 1 <= int(found) <= highest:
        raise ValueError(f"expected a whole number from 1 to {highest}, found `{found}`")
    return int(found)


def _span(value: object) -> tuple[int, int]:
    found = text(value, "a whole number or a range like 1..80")
    low, dots, high = (part.strip() for part in found.partition(".."))
    span = (_whole(low), _whole(high if dots else low))
    if span[0] > span[1]:
        raise ValueError(f"expected the lower end first, found `{found}`")
    return span


def _fixed(value: object) -> int:
    if isinstance(value, str) and ".." in value:
        raise ValueError(
            f"expected a whole number, found the range `{value}`; ranges need `random: <how many>`"
        )
    return _whole(value)


def _exact(value: object) -> Fraction:
    found = text(value, "a number")
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", found):
        raise ValueError(f"expected a number, not negative, like 10 or 0.25, found `{found}`")
    return Fraction(found)


def _flag(value: object) -> bool:
    found = text(value, "`true` or `false`")
    if found not in ("true", "false"):
        raise ValueError(f"expected `true` or `false`, found `{found[:60]}`")
    return found == "true"


def _metric(value: object) -> str:
    found = text(value, "the name of a counter")
    if found not in METRICS:
        raise ValueError(f"unknown counter `{found}`; {suggestion(found, METRICS)}")
    return found


def _formula(value: object) -> Expression:
    found = text(value, "an expression like ceil(N / 16)")
    try:
        return parse(found)
    except ArithmeticProblem as problem:
        hint = "; put an expression with a comma in quotes" if found.count("(") != found.count(")") else ""
        raise ValueError(f"in `{found[:60]}`: {problem}{hint}") from problem


@dataclass(frozen=True, slots=True)
class Declaration:
    """A kernel parameter without its name; see `grader.model.Parameter`."""

    direction: str
    dtype: str
    extents: tuple[Expression, ...] = ()
    value: Expression | None = None


def _declaration(value: object) -> Declaration:
    forms = "`in float32[M, K]`, `out …`, `inout …`, `int32` or `int32 = expression`"
    found = text(value, forms)
    match = _DECLARATION.fullmatch(found)
    if not match:
        raise ValueError(f"expected {forms}, found `{found[:60]}`")
    direction, dtype, extents, given = match.group("direction", "dtype", "extents", "value")
    if dtype not in DTYPES:
        raise ValueError(f"unknown type `{dtype}`; {_nearest_type(dtype)}")
    if extents is None:
        if direction:
            raise ValueError(f"expected extents after `{direction} {dtype}`, like `{direction} {dtype}[N]`")
        return Declaration("value", dtype, value=None if given is None else _formula(given))
    if not direction:
        raise ValueError(f"expected `in`, `out` or `inout` before `{found[:60]}`")
    return Declaration(direction, dtype, tuple(map(_formula, _between_commas(extents))))


def _between_commas(listed: str) -> list[str]:
    """The pieces of ``listed``; a comma inside parentheses separates nothing."""
    pieces, depth = [""], 0
    for character in listed:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _text_schema(description: str, **more: object) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "description": description, **more})


_NUMBER_OR_TEXT = ["integer", "string"]
_IDENTIFIER = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_KERNEL = r"[A-Za-z_$][A-Za-z0-9_$]*(::[A-Za-z_$][A-Za-z0-9_$]*)*"
_HEADER = r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.(h|cuh|hpp)"
_TEXTS = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\.ya?ml"

Identifier = Annotated[
    str,
    PlainValidator(_matching(_IDENTIFIER, "an id of letters, digits, `-`, `_` and `.`")),
    _text_schema("letters, digits, - _ .", pattern=f"^{_IDENTIFIER}$"),
]
KernelName = Annotated[
    str,
    PlainValidator(_matching(_KERNEL, "the name of a kernel")),
    _text_schema("plain or C++-mangled name of the kernel", pattern=f"^{_KERNEL}$"),
]
HeaderName = Annotated[
    str,
    PlainValidator(_matching(_HEADER, "the name of a header beside the assignment, like support.h")),
    _text_schema("a header beside assignment.yaml", pattern=f"^{_HEADER}$"),
]
TextsName = Annotated[
    str,
    PlainValidator(_matching(_TEXTS, "the name of a YAML file beside the assignment, like feedback.yaml")),
    _text_schema("texts about mistakes, beside assignment.yaml", pattern=f"^{_TEXTS}$"),
]
Name = Annotated[str, PlainValidator(_name), _text_schema("a dimension or constant")]
Sentence = Annotated[str, PlainValidator(_sentence), _text_schema("text for people")]
Whole = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 1})]
Extent = Annotated[int, PlainValidator(_fixed), WithJsonSchema({"type": "integer", "minimum": 1})]
Span = Annotated[
    tuple[int, int],
    PlainValidator(_span),
    WithJsonSchema({"type": _NUMBER_OR_TEXT, "description": "a number, or a range like 1..80"}),
]
Offset = Annotated[
    int,
    PlainValidator(lambda value: _whole(value, highest=63)),
    WithJsonSchema(
        {
            "type": "integer",
            "minimum": 1,
            "maximum": 63,
            "description": "how many elements after a multiple of 256 bytes arrays begin, as views do",
        }
    ),
]
Draws = Annotated[
    int,
    PlainValidator(lambda value: _whole(value, highest=1000)),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 1000, "description": "how many to draw"}),
]
Exact = Annotated[Fraction, PlainValidator(_exact), WithJsonSchema({"type": "number", "minimum": 0})]
Flag = Annotated[bool, PlainValidator(_flag), WithJsonSchema({"type": "boolean"})]
Metric = Annotated[str, PlainValidator(_metric), WithJsonSchema({"enum": list(METRICS)})]
Formula = Annotated[
    Any,
    PlainValidator(_formula),
    WithJsonSchema({"type": _NUMBER_OR_TEXT, "description": "arithmetic over dimensions and constants"}),
]
Declared = Annotated[
    Declaration,
    PlainValidator(_declaration),
    _text_schema("in float32[M, K], out …, inout …, int32, or int32 = expression"),
]
Identifiers = Annotated[
    list[Identifier], BeforeValidator(_listed, json_schema_input_type=Identifier | list[Identifier])
]
"""A single one stands for a list of one."""

Formulas = Annotated[
    list[Formula],
    Field(min_length=1, max_length=3),
    BeforeValidator(_listed, json_schema_input_type=Formula | list[Formula]),
]
"""x, y, z: as many as are needed."""
