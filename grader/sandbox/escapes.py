"""Known ways out of a container, by the version of runc that has them.

The NVIDIA Container Toolkit has its own line in `grader doctor` where there is a GPU.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.sandbox.engine import Facts


@dataclass(frozen=True, slots=True)
class Escape:
    """A known way out of a container: which versions of runc have it, as half-open ranges."""

    name: str
    how: str
    ranges: tuple[tuple[str, str], ...]


ESCAPES = (
    Escape(
        "CVE-2024-21626",
        "a descriptor of the host's file system stays open in the container",
        (("1.0.0", "1.1.12"),),
    ),
    Escape(
        "CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881",
        "links put in place while a container starts make runc mount or write elsewhere",
        (("0", "1.2.8"), ("1.3.0", "1.3.3")),
    ),
)
"""From runc's advisories GHSA-xr7r-f8xq-vfvv, and GHSA-9493-h29p-rfm2, -qw9x-cqr3-wc7r, -cgrx-mc8f-2prm."""

_PATCHED = re.compile(r"deb\d|ubuntu|\+ds|\.el\d|\.fc\d|\.amzn|suse|-r\d+$", re.IGNORECASE)
"""Marks of a distribution, which mends an old version without giving it another number."""


def known_escapes(facts: Facts) -> tuple[str, ...]:
    """A sentence for each known way out of a container of this engine."""
    number, commit = facts.runc
    if not number:
        return ()
    own = " ".join(dict.fromkeys((number, commit)))
    hedge = " unless your distribution has patched it" if _PATCHED.search(own) else ""
    said = f"{number} ({commit})" if hedge and commit and commit != number else number
    return tuple(
        f"runc {said} lets a container escape{hedge}: {each.name}, where {each.how}; "
        f"update it to {' or '.join(dict.fromkeys(last for _, last in each.ranges))} or newer"
        for each in ESCAPES
        if any(_number(first) <= _number(number) < _number(last) for first, last in each.ranges)
    )


def _number(version: str) -> tuple[int, ...]:
    """``1.1.5`` out of ``1.1.5+ds1``, as numbers; what does not begin with a number is newer than all."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    parts = tuple(int(each) for each in found[1].split(".")) if found else (2**31,)
    return parts + (0,) * (3 - len(parts))
