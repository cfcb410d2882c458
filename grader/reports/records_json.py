"""Records ↔ JSON, by the types of their fields: whatever field a record gets comes along.

Fields that have their default are left out. Tuples are arrays, fractions and bytes (base64) texts, floats
that are not finite ``"inf"``, ``"-inf"`` and ``"nan"``. What is read back may be foreign: each value is
checked against the type of its field, and keys that a later version added are passed over.
"""

from __future__ import annotations

import base64
import binascii
import math
import types
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from grader import model
from grader.reports.stored_grade import EXACT

NOT_FINITE = ("inf", "-inf", "nan")
NAMES = {**vars(model), "Any": Any, "Fraction": Fraction, "np": np}
"""What annotations may name that their own module imports for type checkers only."""


class Misfit(ValueError):  # noqa: N818 - a statement about a value
    """A value that is not of the type of its field; the message says where, and what was expected."""


def encode(value: Any) -> Any:  # noqa: ANN401 - a field's value, whatever it is
    """Write a record, or a value of a field, as JSON can hold it; raises TypeError where there is no form."""
    if is_dataclass(value):
        pairs = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: encode(held) for field, held in pairs if held != _default(field)}
    if isinstance(value, dict):
        return {str(key): encode(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [encode(held) for held in value]
    return _plain(value.item() if isinstance(value, np.generic) else value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a {type(value).__name__} cannot be stored")


def decode(kind: Any, value: Any, where: str = "") -> Any:  # noqa: ANN401 - a type's annotation is no type to mypy
    """Read a value of this type back; raises Misfit naming the place in the file."""
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _record(kind, value, where)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _either(get_args(kind), value, where)
    if origin is tuple:
        return _tuple(get_args(kind), value, where)
    return _leaf(kind, value, where)


def _record(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - as above
    if not isinstance(value, dict):
        raise Misfit(f"{where}: expected an object")
    hints = _hints(kind)
    known = {}
    for field in fields(kind):
        if field.name in value:
            place = f"{where}.{field.name}" if where else field.name
            known[field.name] = decode(hints[field.name], value[field.name], place)
        elif _default(field) is MISSING:
            raise Misfit(f"{where}: expected a key {field.name}" if where else f"expected a key {field.name}")
    return kind(**known)


def _default(field: Any) -> Any:  # noqa: ANN401 - of whatever type the field is
    return field.default if field.default_factory is MISSING else field.default_factory()


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - as above
    return get_type_hints(kind, localns=NAMES)


def _either(kinds: tuple[Any, ...], value: Any, where: str) -> Any:  # noqa: ANN401 - as above
    """A value of the first type that fits; records keep to one type and None."""
    others = [kind for kind in kinds if kind is not type(None)]
    if value is None and len(others) < len(kinds):
        return None
    for kind in others[:-1]:
        try:
            return decode(kind, value, where)
        except Misfit:
            continue
    return decode(others[-1], value, where)


def _tuple(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:  # noqa: ANN401 - as above
    if not isinstance(value, list):
        raise Misfit(f"{where}: expected an array")
    if len(kinds) == 2 and kinds[1] is Ellipsis:  # noqa: PLR2004 - the type and the dots
        return tuple(decode(kinds[0], held, f"{where}[{place}]") for place, held in enumerate(value))
    if len(kinds) != len(value):
        raise Misfit(f"{where}: expected {len(kinds)} entries, found {len(value)}")
    pairs = enumerate(zip(kinds, value, strict=True))
    return tuple(decode(kind, held, f"{where}[{place}]") for place, (kind, held) in pairs)


def _leaf(kind: Any, value: Any, where: str) -> Any:  # noqa: ANN401 - as above
    expected = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
    if kind is float and (value in NOT_FINITE or isinstance(value, int)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise Misfit(f"{where}: expected a number that is not so large") from None
    if kind is Fraction and isinstance(value, str) and EXACT.fullmatch(value):
        return Fraction(value)
    if kind is bytes and isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise Misfit(f"{where}: expected base64") from None
    if isinstance(kind, type) and issubclass(kind, Enum) and value in [each.value for each in kind]:
        return kind(value)
    if kind in expected and type(value) is kind:
        return value
    raise Misfit(f"{where}: expected {expected.get(kind, f'a {kind.__name__}')}")
