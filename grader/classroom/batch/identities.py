"""Identities of an anonymous class: ``OUT/private/identities.json``, the one place that holds them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from grader.base.errors import UsageError
from grader.classroom.batch import places
from grader.classroom.batch.reading import load_class
from grader.classroom.course.anonymous import Identities, Identity, empty_identities, identified
from grader.grading.submission.items import is_id
from grader.model.codec import Misfit, decode, encode
from grader.model.seals import is_intact, sealed

if TYPE_CHECKING:
    from grader.classroom.batch.folder import OutFolder
    from grader.model import Grade

FILE = "identities.json"
FORMAT_VERSION: Final = 2
WITHOUT_CHECKSUM: Final = 1
"""Format version that grader 0.1.0 and before wrote, without stating it."""
_MOST_BYTES = 256 * 2**20


def identities_in(out: OutFolder) -> Identities | None:
    """Read the identities; None where reports name students. Raises UsageError for an unreadable file."""
    if not out.is_anonymous:
        return None
    path = out.with_names / FILE
    try:
        text = places.read(path, _MOST_BYTES).decode("utf-8")
        intact = is_intact(text)
        if intact is False:
            raise Misfit("its checksum is another")
        read = json.loads(text)
        if read.get("format_version", WITHOUT_CHECKSUM) != (FORMAT_VERSION if intact else WITHOUT_CHECKSUM):
            raise Misfit(f"expected format version {FORMAT_VERSION} with its checksum in front")
        people = tuple(decode(Identity, one, "people") for one in read.get("people", ()))
        if not all(is_id(name) for one in people for name in (one.pseudonym, one.submission)):
            raise Misfit("it has a name that the grader gives to no submission")
        return Identities(decode(str, read["salt"], "salt"), people)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        why = problem if isinstance(problem, Misfit) else "it is damaged"
        if isinstance(problem, OSError):
            why = places.reason(problem)
        raise UsageError(
            f"{path}: cannot be read: {why}; it alone says who is who in this class: bring it back from a "
            "copy, or grade into another folder with -o"
        ) from None


def require_identities(out: OutFolder, *, anonymous: bool) -> Identities | None:
    """Identities of the class that is graded now: an anonymous class stays one.

    Raises UsageError where grades with names are there already, and as `identities_in`.
    """
    graded = out.session() is not None
    if out.is_anonymous and (graded or (out.with_names / FILE).exists()):
        return identities_in(out)
    if not anonymous and not out.is_anonymous:
        return None
    if graded:
        raise UsageError(f"{out.path} holds grades under students' names; choose another folder with -o")
    return empty_identities()


def keep(out: OutFolder, identities: Identities) -> None:
    """Write down the identities, before anything is written under a pseudonym."""
    out.be_anonymous()
    record = {"format_version": FORMAT_VERSION} | encode(identities)
    places.write(out.with_names / FILE, (sealed(json.dumps(record, indent=1) + "\n").encode(),))


def load_identified(out: OutFolder) -> tuple[list[Grade], Identities | None]:
    """The class's stored grades with the owners' hand-ins, as `load_class` gives them, and the identities."""
    identities = identities_in(out)
    return [identified(grade, identities) for grade in load_class(out, out.submissions())], identities
