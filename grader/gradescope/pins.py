"""The packages that the grader needs, in the versions that are installed here.

What staff tried an assignment with is what grades it elsewhere, and a new release changes nothing by itself.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from grader.errors import OurError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = "cuda-grader"


def requirements(extras: Iterable[str]) -> list[Requirement]:
    """What the grader with these extras requires, directly or not, here and with this Python.

    Raises OurError where the grader itself is not installed; what else is not has no requirements.
    """
    pending = [(PACKAGE, frozenset(extras))]
    visited: set[tuple[str, frozenset[str]]] = set()
    collected: list[Requirement] = []
    while pending:
        name, wanted = pending.pop()
        if (name, wanted) not in visited:
            visited.add((name, wanted))
            direct = list(_direct(name, wanted))
            collected += direct
            pending += [(normal_name(item.name), frozenset(item.extras)) for item in direct]
    return collected


def pinned(extras: Iterable[str]) -> str:
    """The text of a requirements file; of what is not installed here it says what is asked for."""
    wanted = {normal_name(item.name): item for item in requirements(extras)}
    return "".join(f"{name}{_version(name) or wanted[name].specifier}\n" for name in sorted(wanted))


def normal_name(name: str) -> str:
    """The name of a package as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _version(name: str) -> str:
    try:
        return f"=={distribution(name).version}"
    except PackageNotFoundError:
        return ""


def _direct(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    try:
        texts = distribution(name).requires or ()
    except PackageNotFoundError:
        if name == PACKAGE:
            raise OurError("the grader is not installed, so nobody knows what it requires") from None
        return
    for text in texts:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            yield requirement
