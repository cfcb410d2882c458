"""Classes that share their methods behave as dataclasses with methods of their own."""

from __future__ import annotations

import copy
import pickle
import re
import threading
from dataclasses import FrozenInstanceError, asdict, astuple, dataclass, field, fields, replace
from typing import Any

import numpy as np
import pytest

from grader.base.records import frozen, mutable
from tests.documents import ROOT


@frozen
class Point:
    """Two numbers, of which one has a default, and a remark that is neither compared nor shown."""

    x: int
    y: int = 0
    remark: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PlainPoint:
    """The same as the standard library makes it."""

    x: int
    y: int = 0
    remark: str = field(default="", compare=False, repr=False)


@frozen(kw_only=True)
class Shape:
    """Fields that are named when one is made."""

    name: str
    points: tuple[Point, ...] = ()


@frozen
class Circle(Shape):
    """A shape with a field of its own, which comes first; the others are named."""

    radius: float

    def __str__(self) -> str:
        return f"circle {self.name}"


@frozen(eq=False)
class Place:
    """Equal to itself only."""

    values: np.ndarray[Any, Any]


@frozen
class Empty:
    """No field."""


@frozen
class Single:
    """One field."""

    value: object


@mutable
class Counter:
    """An object with state."""

    name: str
    seen: list[int] = field(default_factory=list)
    total: int = field(default=3, init=False)
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2 * self.total


def test_it_is_what_the_standard_library_makes() -> None:
    """Text, equality, hash, fields, copies with changes; slots, and no dictionary."""
    ours, plain = Point(1, remark="a"), PlainPoint(1, remark="a")
    assert repr(ours) == repr(plain).removeprefix("Plain")
    assert (ours == Point(1), hash(ours), ours.__eq__(plain)) == (True, hash(plain), NotImplemented)
    assert (ours == Point(2), ours != Point(1)) == (False, False)
    assert [item.name for item in fields(ours)] == [item.name for item in fields(plain)]
    assert (asdict(ours), astuple(ours)) == (asdict(plain), astuple(plain))
    assert replace(ours, y=5) == Point(1, 5)
    for name in ("__match_args__", "__slots__"):
        assert getattr(Point, name) == getattr(PlainPoint, name)
    assert not hasattr(ours, "__dict__")


def test_what_is_frozen_cannot_be_changed() -> None:
    """Neither set nor deleted, whether there is such a field or not."""
    point: Any = Point(1)
    for name in ("x", "other"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(point, name, 2)
        with pytest.raises(FrozenInstanceError, match=name):
            delattr(point, name)


@pytest.mark.parametrize(
    "value", [Point(1, 2, "a"), Circle(2.5, name="c", points=(Point(1),)), Empty(), Single(3)]
)
def test_it_travels_between_processes(value: object) -> None:
    """Pickled or copied, it is equal, and all its fields are there."""
    for other in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):  # noqa: S301
        assert (other, repr(other), hash(other)) == (value, repr(value), hash(value))
    assert pickle.loads(pickle.dumps(Point(1, 2, "a"))).remark == "a"  # noqa: S301


def test_classes_are_derived_and_keep_their_own_methods() -> None:
    """Fields of the base are there, named; a method that a class defines is not replaced."""
    circle = Circle(2.5, name="c")
    assert (circle.radius, circle.name, circle.points, str(circle)) == (2.5, "c", (), "circle c")
    assert circle != Shape(name="c")
    assert repr(circle) == "Circle(name='c', points=(), radius=2.5)"


def test_wrong_arguments_are_refused_with_the_name_of_the_class() -> None:
    """Each time, not only when the first object is made."""
    circle: Any = Circle
    for _ in range(2):
        with pytest.raises(
            TypeError, match=r"Circle\.__init__\(\) missing 1 required keyword-only argument: 'name'"
        ):
            circle(1.0)
        with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
            circle(1.0, name="c", colour="red")


def test_without_comparison_it_equals_itself_only() -> None:
    """So it may hold arrays."""
    place = Place(np.arange(3))
    assert (place == place, place == Place(place.values)) == (True, False)  # noqa: PLR0124
    assert len({place, place}) == 1


def test_few_fields_are_compared_as_a_tuple() -> None:
    """Of one field too: an array in it is the same if it is the same object."""
    array = np.arange(3)
    assert (Empty() == Empty(), hash(Empty())) == (True, hash(()))
    assert (Single(array) == Single(array), hash(Single(1))) == (True, hash((1,)))


def test_a_mutable_object_has_state_of_its_own() -> None:
    """Values of functions are made anew, fields outside of ``__init__`` are filled, and it may be changed."""
    one, other = Counter("a"), Counter("b", [1])
    one.seen.append(5)
    one.total += 1
    assert (one.seen, other.seen, Counter("c").seen, one.total, one.twice) == ([5], [1], [], 4, 6)
    assert (one == Counter("a", [5]), len({one, other})) == (False, 2)
    assert repr(other) == "Counter(name='b', seen=[1], total=3, twice=6)"
    assert pickle.loads(pickle.dumps(one)).seen == [5]  # noqa: S301


def test_first_objects_are_made_by_several_threads_at_once() -> None:
    """The ``__init__`` of a class may be written twice; all objects are whole."""

    @frozen
    class Late:
        number: int

    made: list[Late] = []
    threads = [threading.Thread(target=lambda n=n: made.append(Late(n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(late.number for late in made) == list(range(8))


def test_the_classes_of_the_package_are_made_so() -> None:
    """A class with slots that `dataclass` makes takes ten times as long to load; one has an order."""
    files = sorted(ROOT.glob("grader/**/*.py"))
    slotted = {
        path.name: re.findall(r"^@dataclass\(.*slots=True.*\)", path.read_text(), re.MULTILINE)
        for path in files
    }
    assert {name: found for name, found in slotted.items() if found} == {
        "document.py": ["@dataclass(frozen=True, slots=True, order=True)"]
    }
