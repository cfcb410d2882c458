"""A part of a class that is graded apart, on another machine or by another job; see `merge`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Submission


@dataclass(frozen=True, slots=True)
class Shard:
    """The ``number``-th of ``of`` parts, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def of_class(self, submissions: Sequence[Submission]) -> tuple[Submission, ...]:
        """Its submissions of a whole class sorted by id: every so many, so that parts are equally large."""
        return tuple(submissions[self.number - 1 :: self.of])


def digest_of_class(submissions: Sequence[Submission]) -> str:
    """A digest of who handed in what, by which the parts of one class know each other."""
    content = "".join(f"{submission.id}\0{submission.digest}\n" for submission in submissions)
    return hashlib.sha256(content.encode(errors="backslashreplace")).hexdigest()
