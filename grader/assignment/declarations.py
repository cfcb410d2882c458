"""What a kernel is given, as assignments declare it: ``in float32[M, K]``, ``int32 = N``, a struct."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from grader.arithmetic import Expression, parse
from grader.assignment.fields import formula, matching, name_of, suggestion, text

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
_STRUCT = r"[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*"

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
    our_name = _AS_IN_CUDA.get(word)
    return f"CUDA's `{word}` is `{our_name}` here" if our_name in DTYPES else suggestion(word, DTYPES)


@dataclass(frozen=True, slots=True)
class ParameterDeclaration:
    """A kernel parameter without its name; see `grader.model.Parameter`."""

    direction: str
    dtype: str
    extents: tuple[Expression, ...] = ()
    value: Expression | None = None
    fields: tuple[tuple[str, ParameterDeclaration], ...] = ()
    """Of a struct, whose C++ name is the ``dtype``."""


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
