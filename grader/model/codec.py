"""The codec of records: a record as values that JSON can hold, and back by the types of its fields.

Fields that have their default are left out. Tuples are arrays, fractions and bytes (base64) texts, floats
that are not finite ``"inf"``, ``"-inf"`` and ``"nan"``. What is read back may be foreign: each value is
checked against the type of its field, and keys that a later version added are passed over. `decode` reads one
value and says where it does not fit; `fits` only returns whether it does, of many values at once: of what is
read by the thousand much is not shown, and it is enough to know that it could be read.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import types
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from grader import model
from grader.model.trace import TraceScene

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXACT = re.compile(r"-?\d{1,400}(/0*[1-9]\d{0,400})?")
"""``25/3``; the length is bounded because arithmetic on what a file holds should be."""

_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
NOT_FINITE = ("inf", "-inf", "nan")
NAMES = {**vars(model), "Any": Any, "Fraction": Fraction, "TraceScene": TraceScene, "np": np}
"""Names in annotations that their own module imports for type checkers only."""


class Misfit(ValueError):  # noqa: N818 - a statement about a value
    """A value that is not of the type of its field; the message says where, and what was expected."""

    def __init__(self, reason: str, key_path: str = "") -> None:
        super().__init__(f"{key_path}: {reason}" if key_path else reason)
        self.reason, self.key_path = reason, key_path

    def within(self, key: str) -> Misfit:
        """The same of what holds the value under this key, ``name`` or ``[2]``."""
        dot = "." if self.key_path and not self.key_path.startswith("[") else ""
        return Misfit(self.reason, key + dot + self.key_path)


def encode(value: Any) -> Any:  # noqa: ANN401 - a field's value, of any type
    """Write a record, or a value of a field, as JSON can hold it; raises TypeError where there is no form."""
    kind = type(value)
    if kind in _AS_THEY_ARE:  # most of what a grade holds
        return value
    if is_dataclass(kind):
        pairs = ((field.name, getattr(value, field.name), field.default) for field in _fields(kind))
        return {name: encode(item) for name, item, default in pairs if item != default}
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
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


def decode(kind: Any, value: Any, key: str = "") -> Any:  # noqa: ANN401 - a type's annotation is no type to mypy
    """Read a value of this type back; raises Misfit naming the place, which begins with this key."""
    try:
        return _decoded(kind, value)
    except Misfit as problem:
        raise (problem.within(key) if key else problem) from None


def _decoded(kind: Any, value: Any) -> Any:  # noqa: ANN401 - as above
    if kind is Any or type(value) is kind:  # most values are a text or a number of just this type
        return value
    reader, of = _reader(kind)
    return reader(of, value)


@cache
def _reader(kind: Any) -> tuple[Callable[[Any, Any], Any], Any]:  # noqa: ANN401 - as above
    """Reader of values of this type, and its data about the type."""
    if is_dataclass(kind):
        return _record, kind
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _either, get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _member, {member.value: member for member in kind}
    return (_tuple, get_args(kind)) if origin is tuple else (_leaf, kind)


def _record(kind: Any, value: Any) -> Any:  # noqa: ANN401 - as above
    if not isinstance(value, dict):
        raise Misfit("expected an object")
    values, name = {}, ""
    try:
        for name, hint, default in _fields(kind):
            if name in value:
                values[name] = _decoded(hint, value[name])
            elif default is MISSING:
                break
        else:
            return kind(**values)
    except Misfit as problem:
        raise problem.within(name) from None
    raise Misfit(f"expected a key {name}")


class _Field(NamedTuple):
    """A field of a record: its type, and its default or MISSING."""

    name: str
    hint: Any
    default: Any


def read_types(record: Any) -> None:  # noqa: ANN401 - as above
    """Find out now what fields a type of records has, and those within it, instead of when one is written."""
    waiting: list[Any] = [record]
    seen: set[Any] = set()
    while waiting:
        kind = waiting.pop()
        if kind not in seen:
            seen.add(kind)
            waiting += get_args(kind)
            if isinstance(kind, type) and is_dataclass(kind):
                waiting += (field.hint for field in _fields(kind))


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:  # noqa: ANN401 - as above
    hints = get_type_hints(kind, localns=NAMES)
    return tuple(
        _Field(
            field.name,
            hints[field.name],
            field.default if field.default_factory is MISSING else field.default_factory(),
        )
        for field in fields(kind)
    )


def _either(kinds: tuple[Any, ...], value: Any) -> Any:  # noqa: ANN401 - as above
    """A value of the first type that fits; records keep to one type and None."""
    types = [kind for kind in kinds if kind is not type(None)]
    if value is None and len(types) < len(kinds):
        return None
    for kind in types[:-1]:
        try:
            return _decoded(kind, value)
        except Misfit:
            continue
    return _decoded(types[-1], value)


def _tuple(kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as above
    if not isinstance(value, list):
        raise Misfit("expected an array")
    if len(kinds) == 2 and kinds[1] is Ellipsis:  # noqa: PLR2004 - the type and the dots
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise Misfit(f"expected {len(kinds)} entries, found {len(value)}")
    items: list[Any] = []
    try:
        for kind, item in zip(kinds, value, strict=True):
            items.append(_decoded(kind, item))
    except Misfit as problem:
        raise problem.within(f"[{len(items)}]") from None
    return tuple(items)


def _member(members: dict[Any, Enum], value: Any) -> Enum:  # noqa: ANN401 - as above
    if type(value) not in {str, int} or value not in members:
        raise Misfit(f"expected a {type(next(iter(members.values()))).__name__}")
    return members[value]


def _leaf(kind: Any, value: Any) -> Any:  # noqa: ANN401 - as above
    expected = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
    if kind is float and (value in NOT_FINITE or isinstance(value, int)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise Misfit("expected a number that is not so large") from None
    if kind is Fraction and isinstance(value, str) and EXACT.fullmatch(value):
        return Fraction(value)
    if kind is bytes and isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise Misfit("expected base64") from None
    raise Misfit(f"expected {expected.get(kind, f'a {kind.__name__}')}")


def fits(kind: Any, values: Sequence[Any]) -> bool:  # noqa: ANN401 - as above
    """True if `decode` could read every one of these values as this type.

    Nothing is built, and values that lie at the same place in records of one type are looked at together:
    their types are those of a column of a table.
    """
    if kind is Any or set(map(type, values)) <= {kind}:
        return True
    judge, of = _judge(kind)
    return judge(of, values)


@cache
def _judge(kind: Any) -> tuple[Callable[[Any, Sequence[Any]], bool], Any]:  # noqa: ANN401 - as above
    """Judge of values of this type, and its data about the type: the counterpart of `_reader`."""
    judges: dict[Callable[[Any, Any], Any], Callable[[Any, Sequence[Any]], bool]] = {
        _record: _records_fit,
        _either: _all_fit_one,
        _member: _are_members,
        _tuple: _arrays_fit,
        _leaf: _leaves_fit,
    }
    read, of = _reader(kind)
    return judges[read], of


def _records_fit(kind: Any, values: Sequence[Any]) -> bool:  # noqa: ANN401 - as above
    if set(map(type, values)) != {dict}:
        return False
    names = set().union(*values)
    for name, hint, default in _fields(kind):
        column = [value[name] for value in values if name in value] if name in names else []
        if default is MISSING and len(column) < len(values):
            return False
        if column and not fits(hint, column):
            return False
    return True


def _all_fit_one(kinds: tuple[Any, ...], values: Sequence[Any]) -> bool:
    """True if each value fits one of these types."""
    if type(None) in kinds:
        kinds = tuple(kind for kind in kinds if kind is not type(None))
        values = [value for value in values if value is not None]
    if len(kinds) == 1:
        return fits(kinds[0], values)
    return all(any(fits(kind, [value]) for kind in kinds) for value in values)


def _arrays_fit(kinds: tuple[Any, ...], values: Sequence[Any]) -> bool:
    if set(map(type, values)) != {list}:
        return False
    if len(kinds) == 2 and kinds[1] is Ellipsis:  # noqa: PLR2004 - the type and the dots
        return fits(kinds[0], list(chain.from_iterable(values)))
    return set(map(len, values)) == {len(kinds)} and all(map(fits, kinds, zip(*values, strict=True)))


def _are_members(members: dict[Any, Enum], values: Sequence[Any]) -> bool:
    return set(map(type, values)) <= {str, int} and members.keys() >= set(values)


def _leaves_fit(kind: Any, values: Sequence[Any]) -> bool:  # noqa: ANN401 - as above
    try:
        for value in values:
            if type(value) is not kind:
                _leaf(kind, value)
    except Misfit:
        return False
    return True
