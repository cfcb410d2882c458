"""Dataclasses with slots whose classes load in a tenth of the time, because they share their methods.

`dataclasses.dataclass` writes the source of up to six methods for each class and compiles it whenever the
class is loaded, which took more than a third of what a check loaded beside NumPy. `frozen` and `mutable` take
fields and slots from it, so that `fields`, `replace` and `asdict` know their classes. Methods are closures
over the fields; ``__init__`` alone is written as source, when the first object of its class is made. A class
is derived only from classes that are made in the same way.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    Methods = dict[str, Callable[..., Any]]

Class = TypeVar("Class", bound=type[Any])

_WITHOUT_INIT: list[type[Any]] = []
"""Classes of which no object was made yet."""


def write_all() -> None:
    """Write the ``__init__`` of all classes now, before processes are forked that would each write them."""
    while _WITHOUT_INIT:
        _write_init(_WITHOUT_INIT[-1])


@overload
def frozen(plain: Class, /) -> Class: ...


@overload
def frozen(*, eq: bool = True, kw_only: bool = False) -> Callable[[Class], Class]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    plain: Class | None = None, /, *, eq: bool = True, kw_only: bool = False
) -> Class | Callable[[Class], Class]:
    """Make of a class what ``dataclass(frozen=True, slots=True)`` does.

    Without ``eq`` an object equals itself only.
    """

    def decorated(plain: Class) -> Class:
        slotted = _with_slots(plain, kw_only=kw_only)
        compared = _comparison(slotted) if eq else {}
        return _with_methods(slotted, plain, _shown(slotted) | _kept(slotted) | _PROTECTION | compared)

    return decorated if plain is None else decorated(plain)


@overload
def mutable(plain: Class, /) -> Class: ...


@overload
def mutable(*, kw_only: bool = False) -> Callable[[Class], Class]: ...


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def mutable(plain: Class | None = None, /, *, kw_only: bool = False) -> Class | Callable[[Class], Class]:
    """Make of a class what ``dataclass(eq=False, slots=True)`` does: an object equals itself only."""

    def decorated(plain: Class) -> Class:
        slotted = _with_slots(plain, kw_only=kw_only)
        return _with_methods(slotted, plain, _shown(slotted))

    return decorated if plain is None else decorated(plain)


def _with_slots(plain: Class, *, kw_only: bool) -> Class:
    """The class with its fields and slots, and no method yet; a class with slots is another object."""
    slotted: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(plain)
    return slotted  # type: ignore[no-any-return]


def _with_methods(slotted: Class, plain: Class, methods: Methods) -> Class:
    """The class with an ``__init__`` and these methods; those that it defines itself stay."""
    for name, method in {"__init__": _first_init(slotted), **methods}.items():
        if name not in vars(plain):
            setattr(slotted, name, method)
    if "__init__" not in vars(plain):
        _WITHOUT_INIT.append(slotted)
    return slotted


def _refuse_setting(_: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_PROTECTION: Methods = {"__setattr__": _refuse_setting, "__delattr__": _refuse_deleting}


def _shown(slotted: type[Any]) -> Methods:
    """The method that shows an object with its fields."""
    names = [item.name for item in fields(slotted) if item.repr]

    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return {"__repr__": shown}


def _kept(slotted: type[Any]) -> Methods:
    """Methods that pickle a frozen object: without them it would be restored by setting its fields."""
    names = [item.name for item in fields(slotted)]

    def state(self: object) -> list[object]:
        return [getattr(self, name) for name in names]

    def restored(self: object, state: list[object]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": state, "__setstate__": restored}


def _comparison(slotted: type[Any]) -> Methods:
    """Methods that compare and hash an object as the tuple of its fields."""
    values = _values(*(item.name for item in fields(slotted) if item.compare))

    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


def _values(*names: str) -> Callable[[Any], tuple[object, ...]]:
    """The values of these attributes, as a tuple; `attrgetter` makes one of two names or more."""
    match names:
        case ():
            return lambda _: ()
        case (name,):
            return lambda self: (getattr(self, name),)
    return attrgetter(*names)


def _first_init(slotted: type[Any]) -> Callable[..., None]:
    """The ``__init__`` for the first object of a class: it is replaced by the one that is written."""

    def init(self: object, *values: object, **named: object) -> None:
        _write_init(slotted)
        slotted.__init__(self, *values, **named)

    return init


def _write_init(slotted: type[Any]) -> None:
    slotted.__init__ = _written_init(slotted)
    if slotted in _WITHOUT_INIT:  # else another thread was here meanwhile
        _WITHOUT_INIT.remove(slotted)


def _written_init(slotted: type[Any]) -> Callable[..., None]:
    """The ``__init__`` that takes the fields of a class as arguments, and fills their slots."""
    scope: dict[str, Any] = {"_MISSING": MISSING}
    for item in fields(slotted):
        scope[f"_set_{item.name}"] = getattr(slotted, item.name).__set__
        scope[f"_default_{item.name}"] = item.default
        scope[f"_make_{item.name}"] = item.default_factory
    positional = [_parameter(item) for item in fields(slotted) if item.init and not item.kw_only]
    named = [_parameter(item) for item in fields(slotted) if item.init and item.kw_only]
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    lines = [
        f" _set_{item.name}(self, {_value(item)})"
        for item in fields(slotted)
        if item.init or _has_default(item)
    ]
    ending = " self.__post_init__()" if hasattr(slotted, "__post_init__") else " pass"
    exec("\n".join([f"def __init__({parameters}):", *lines, ending]), scope)  # noqa: S102 - names of our fields
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__ = f"{slotted.__qualname__}.__init__"
    return init


def _has_default(item: Field[Any]) -> bool:
    return item.default is not MISSING or item.default_factory is not MISSING


def _parameter(item: Field[Any]) -> str:
    """The parameter of a field; the default of one that a function makes is missing."""
    return f"{item.name}=_default_{item.name}" if _has_default(item) else item.name


def _value(item: Field[Any]) -> str:
    """The expression of the value that a field gets."""
    if item.default_factory is MISSING:
        return item.name if item.init else f"_default_{item.name}"
    call = f"_make_{item.name}()"
    return f"{call} if {item.name} is _MISSING else {item.name}" if item.init else call
