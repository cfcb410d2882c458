"""The texts that may stand at the leaves of an assignment, and what they mean.

Each type here is a reader (text → value, or ``ValueError`` saying what was expected) together with what
an editor should know of it (JSON Schema).
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from grader.arithmetic import ArithmeticProblem, Expression, parse
from grader.model import Counters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

METRICS = tuple(Counters.__dataclass_fields__)
"""The counters that a `traffic` item may look at."""

MAX_EXTENT = 2**31 - 1
"""A dimension fits an ``int``."""

_RESERVED = ("ceil", "floor", "min", "max")


def suggestion(word: str, known: Iterable[str]) -> str:
    """The tail of a message about a word that nobody knows: the nearest known one, or all of them."""
    everything = tuple(known)
    near = get_close_matches(word, everything, n=1)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"expected one of {', '.join(everything)}" if everything else "there are none"


def text(value: object, expected: str) -> str:
    """``value`` if it is a text with something in it."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    kinds = {"dict": "a mapping", "list": "a list", "str": "an empty text"}
    found = kinds.get(type(value).__name__, "nothing")
    raise ValueError(f"expected {expected}, found {found}")


def matching(pattern: str, expected: str) -> Callable[[object], str]:
    """A reader of texts that match a pattern."""
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


def name_of(value: object) -> str:
    """A name as C has them, of a dimension or a parameter."""
    found = matching(r"[A-Za-z_][A-Za-z0-9_]*", "a name as C has them")(value)
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


def formula(value: object) -> Expression:
    """An expression over dimensions and constants."""
    found = text(value, "an expression like ceil(N / 16)")
    try:
        return parse(found)
    except ArithmeticProblem as problem:
        hint = "; put an expression with a comma in quotes" if found.count("(") != found.count(")") else ""
        raise ValueError(f"in `{found[:60]}`: {problem}{hint}") from problem


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
    PlainValidator(matching(_IDENTIFIER, "an id of letters, digits, `-`, `_` and `.`")),
    _text_schema("letters, digits, - _ .", pattern=f"^{_IDENTIFIER}$"),
]
KernelName = Annotated[
    str,
    PlainValidator(matching(_KERNEL, "the name of a kernel")),
    _text_schema("plain or C++-mangled name of the kernel", pattern=f"^{_KERNEL}$"),
]
HeaderName = Annotated[
    str,
    PlainValidator(matching(_HEADER, "the name of a header beside the assignment, like support.h")),
    _text_schema("a header beside assignment.yaml", pattern=f"^{_HEADER}$"),
]
TextsName = Annotated[
    str,
    PlainValidator(matching(_TEXTS, "the name of a YAML file beside the assignment, like feedback.yaml")),
    _text_schema("texts about mistakes, beside assignment.yaml", pattern=f"^{_TEXTS}$"),
]
Name = Annotated[str, PlainValidator(name_of), _text_schema("a dimension or constant")]
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
    PlainValidator(formula),
    WithJsonSchema({"type": _NUMBER_OR_TEXT, "description": "arithmetic over dimensions and constants"}),
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
