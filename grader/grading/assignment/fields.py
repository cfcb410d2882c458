"""The texts that may stand at the leaves of an assignment, and what they mean.

Each type here is a reader (text → value, or ``ValueError`` saying what was expected) together with what an
editor should know of it (JSON Schema). What a kernel is given is declared by such texts, too: ``in float32[M,
K]``, ``int32 = N``, a struct. The texts of programs are in `program_fields`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from grader.base.arithmetic import ArithmeticProblem, Expression, parse
from grader.base.records import frozen
from grader.base.text import suggestion
from grader.model import Counters, Threshold

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = tuple(Counters.__dataclass_fields__)
"""The counters that a `traffic` item may look at."""

MAX_EXTENT = 2**31 - 1
"""A dimension fits an ``int``."""

_RESERVED = ("ceil", "floor", "min", "max")


def text(value: object, expected: str) -> str:
    """``value`` if it is a text with something in it."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    kinds = {"dict": "a mapping", "list": "a list", "str": "an empty text"}
    kind = kinds.get(type(value).__name__, "nothing")
    raise ValueError(f"expected {expected}, found {kind}")


def matching(pattern: str, expected: str) -> Callable[[object], str]:
    """A reader of texts that match a pattern."""
    compiled = re.compile(pattern)

    def read(value: object) -> str:
        written = text(value, expected)
        if not compiled.fullmatch(written):
            raise ValueError(f"expected {expected}, found `{written}`")
        return written

    return read


def _sentence(value: object) -> str:
    written = text(value, "a text")
    if any(not character.isprintable() and character != "\n" for character in written):
        raise ValueError("expected a text without control characters")
    return written


def name_of(value: object) -> str:
    """A name as C has them, of a dimension or a parameter."""
    written = matching(r"[A-Za-z_][A-Za-z0-9_]*", "a name as C has them")(value)
    if written in _RESERVED:
        raise ValueError(f"`{written}` is a function in expressions; expected another name")
    return written


def _whole_number(value: object, highest: int = MAX_EXTENT) -> int:
    written = text(value, "a whole number")
    if not re.fullmatch(r"[0-9]{1,18}", written) or not 1 <= int(written) <= highest:
        raise ValueError(f"expected a whole number from 1 to {highest}, found `{written}`")
    return int(written)


def _range_of_numbers(value: object) -> tuple[int, int]:
    written = text(value, "a whole number or a range like 1..80")
    low, dots, high = (part.strip() for part in written.partition(".."))
    if not dots and not low.isdecimal():
        raise ValueError(f"expected a whole number or a range like 1..80, found `{written}`")
    span = (_whole_number(low), _whole_number(high if dots else low))
    if span[0] > span[1]:
        raise ValueError(f"expected the lower end first, found `{written}`")
    return span


def _extent(value: object) -> int:
    if isinstance(value, str) and ".." in value:
        raise ValueError(
            f"expected a whole number, found the range `{value}`; ranges need `random: <how many>`"
        )
    return _whole_number(value)


def _exact(value: object) -> Fraction:
    written = text(value, "a number")
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", written):
        raise ValueError(f"expected a number, not negative, like 10 or 0.25, found `{written}`")
    return Fraction(written)


def _flag(value: object) -> bool:
    written = text(value, "`true` or `false`")
    if written not in ("true", "false"):
        raise ValueError(f"expected `true` or `false`, found `{written[:60]}`")
    return written == "true"


def _metric(value: object) -> str:
    written = text(value, "the name of a counter")
    if written not in METRICS:
        raise ValueError(f"unknown counter `{written}`; {suggestion(written, METRICS)}")
    return written


def formula(value: object) -> Expression:
    """An expression over dimensions and constants."""
    written = text(value, "an expression like ceil(N / 16)")
    try:
        return parse(written)
    except ArithmeticProblem as problem:
        hint = (
            "; put an expression with a comma in quotes" if written.count("(") != written.count(")") else ""
        )
        raise ValueError(f"in `{written[:60]}`: {problem}{hint}") from problem


def as_list(value: object) -> object:
    """A list, also where one text stands for itself."""
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
Whole = Annotated[int, PlainValidator(_whole_number), WithJsonSchema({"type": "integer", "minimum": 1})]
Extent = Annotated[int, PlainValidator(_extent), WithJsonSchema({"type": "integer", "minimum": 1})]
Span = Annotated[
    tuple[int, int],
    PlainValidator(_range_of_numbers),
    WithJsonSchema({"type": _NUMBER_OR_TEXT, "description": "a number, or a range like 1..80"}),
]
Offset = Annotated[
    int,
    PlainValidator(lambda value: _whole_number(value, highest=63)),
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
    PlainValidator(lambda value: _whole_number(value, highest=1000)),
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
FormulaText = Annotated[
    str,
    PlainValidator(lambda value: str(formula(value))),
    WithJsonSchema({"type": _NUMBER_OR_TEXT, "description": "arithmetic over the sizes of a case"}),
]
Identifiers = Annotated[
    list[Identifier], BeforeValidator(as_list, json_schema_input_type=Identifier | list[Identifier])
]
"""A single one stands for a list of one."""

Formulas = Annotated[
    list[Formula],
    Field(min_length=1, max_length=3),
    BeforeValidator(as_list, json_schema_input_type=Formula | list[Formula]),
]
"""x, y, z: as many as are needed."""

_SPEEDUP_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,9})?"
_THRESHOLD = re.compile(rf"({_SPEEDUP_NUMBER})(\s+of\s+solution)?")
_EXPECTED_THRESHOLD = "a number such as 1.25 or a share such as `0.9 of solution`"

LEAST_BUDGET, MOST_BUDGET = 0.1, 10.0
"""Seconds of a GPU for one submission's timed launches."""


def _threshold(value: object) -> Threshold:
    written = text(value, _EXPECTED_THRESHOLD)
    match = _THRESHOLD.fullmatch(written)
    if not match:
        raise ValueError(f"expected {_EXPECTED_THRESHOLD}, found `{written[:60]}`")
    number = Fraction(match.group(1))
    return Threshold(of_solution=number) if match.group(2) else Threshold(fixed=number)


def _credit(value: object) -> Fraction:
    expected = "a share of the points above 0 and at most 1, like 0.25"
    written = text(value, expected)
    if not re.fullmatch(_SPEEDUP_NUMBER, written) or not 0 < Fraction(written) <= 1:
        raise ValueError(f"expected {expected}, found `{written[:60]}`")
    return Fraction(written)


def _budget(value: object) -> float:
    expected = f"a number of seconds from {LEAST_BUDGET:g} to {MOST_BUDGET:g}"
    written = text(value, expected)
    if not re.fullmatch(_SPEEDUP_NUMBER, written) or not LEAST_BUDGET <= float(written) <= MOST_BUDGET:
        raise ValueError(f"expected {expected}, found `{written[:60]}`")
    return float(written)


Speedup = Annotated[
    Threshold,
    PlainValidator(_threshold),
    WithJsonSchema(
        {
            "type": ["number", "string"],
            "minimum": 0,
            "pattern": rf"^{_SPEEDUP_NUMBER}\s+of\s+solution$",
            "description": "how many times as fast as the baseline (1.25), or a share of how many times as "
            "fast the model solution is on the same device (0.9 of solution)",
        }
    ),
]
Credit = Annotated[
    Fraction,
    PlainValidator(_credit),
    WithJsonSchema(
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "description": "share of the points"}
    ),
]
Budget = Annotated[
    float,
    PlainValidator(_budget),
    WithJsonSchema(
        {
            "type": "number",
            "minimum": LEAST_BUDGET,
            "maximum": MOST_BUDGET,
            "description": "seconds of timed launches, at most; what is open then counts for the student",
        }
    ),
]


DTYPES = (
    *("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16"),
    *("int32", "uint32", "int64", "uint64"),
)
"""Element and scalar types of kernel parameters, by their NumPy names, and one that NumPy lacks."""

_DECLARATION = re.compile(
    r"(?:(?P<direction>in|out|inout)\s+)?(?P<dtype>[A-Za-z_][A-Za-z0-9_]*)\s*"
    r"(?:\[(?P<extents>.*)\]|=(?P<value>.*))?",
    re.DOTALL,
)

_AS_IN_CUDA = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "__nv_bfloat16": "bfloat16",
    "int": "int32",
    "unsigned": "uint32",
}
"""Names of types in a kernel, each with the name used here."""


def _nearest_type(word: str) -> str:
    our_name = _AS_IN_CUDA.get(word)
    return f"CUDA's `{word}` is `{our_name}` here" if our_name in DTYPES else suggestion(word, DTYPES)


@frozen
class ParameterDeclaration:
    """A kernel parameter without its name; see `grader.model.Parameter`."""

    direction: str
    dtype: str
    extents: tuple[Expression, ...] = ()
    value: Expression | None = None
    fields: tuple[tuple[str, ParameterDeclaration], ...] = ()
    """Fields of a struct, whose C++ name is the ``dtype``."""


def _declaration(value: object) -> ParameterDeclaration:
    if isinstance(value, dict):
        return _struct(value)
    forms = "`in float32[M, K]`, `out …`, `inout …`, `int32` or `int32 = expression`"
    written = text(value, forms)
    if re.match(r"dim3\b", written):
        return _dim3(written)
    match = _DECLARATION.fullmatch(written)
    if not match:
        raise ValueError(f"expected {forms}, found `{written[:60]}`")
    direction, dtype, extents, given = match.group("direction", "dtype", "extents", "value")
    if dtype not in DTYPES:
        raise ValueError(f"unknown type `{dtype}`; {_nearest_type(dtype)}")
    if extents is None:
        if direction:
            raise ValueError(f"expected extents after `{direction} {dtype}`, like `{direction} {dtype}[N]`")
        return ParameterDeclaration("value", dtype, value=None if given is None else formula(given))
    if not direction:
        raise ValueError(f"expected `in`, `out` or `inout` before `{written[:60]}`")
    return ParameterDeclaration(direction, dtype, tuple(map(formula, _between_commas(extents))))


def _struct(value: dict[object, object]) -> ParameterDeclaration:
    """``{struct: Matrix, fields: {width: int32 = K, elements: in float32[M, K]}}``."""
    fields = value.get("fields")
    if set(value) != {"struct", "fields"} or not isinstance(fields, dict) or not fields:
        raise ValueError(
            "expected `struct` with the name of a struct and `fields` with a declaration for each"
        )
    name = matching(r"[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*", "the name of a struct")(
        value["struct"]
    )
    declared = []
    for field, form in fields.items():
        try:
            declared.append((name_of(field), _declaration(form)))
        except ValueError as problem:
            raise ValueError(f"in the field `{field}`: {problem}") from problem
        if declared[-1][1].fields:
            raise ValueError(
                f"in the field `{field}`: a struct in a struct is not supported; name its fields"
            )
    return ParameterDeclaration("value", name, fields=tuple(declared))


def _dim3(written: str) -> ParameterDeclaration:
    """``dim3 = N, M``: what is left out is 1."""
    _, equals, listed = written.partition("=")
    values = [formula(piece) for piece in _between_commas(listed)] if equals else []
    if not 1 <= len(values) <= len("xyz"):
        raise ValueError("expected one to three expressions after `dim3 =`, like `dim3 = N, M`")
    values += [parse("1")] * (len("xyz") - len(values))
    fields = tuple(
        (axis, ParameterDeclaration("value", "uint32", value=value))
        for axis, value in zip("xyz", values, strict=True)
    )
    return ParameterDeclaration("value", "dim3", fields=fields)


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


Declared = Annotated[
    ParameterDeclaration,
    PlainValidator(_declaration),
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "string",
                    "description": "in float32[M, K], out …, inout …, int32, int32 = expression, dim3 = N, M",
                },
                {
                    "type": "object",
                    "description": "a struct by value",
                    "properties": {
                        "struct": {"type": "string", "description": "the struct's name in C++"},
                        "fields": {
                            "type": "object",
                            "description": "int32 = K, or in float32[M, K] for a pointer to an array",
                            "additionalProperties": {"type": "string"},
                        },
                    },
                    "required": ["struct", "fields"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
