"""Who is who in an anonymous class: ``OUT/private/identities.json``, the one place that says it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.batch.reading import load_class
from grader.course.anonymous import Identities, Identity, identified, nobody_yet
from grader.errors import UsageError
from grader.model.codec import Misfit, decode, encode

if TYPE_CHECKING:
    from grader.batch.folder import OutFolder
    from grader.model import Grade

FILE = "identities.json"
_MOST_CHARACTERS = 256 * 2**20


def identities_in(out: OutFolder) -> Identities | None:
    """Who is who; None where reports name everybody. Raises UsageError where the file cannot be read."""
    if not out.is_anonymous:
        return None
    path = out.with_names / FILE
    try:
        with path.open(encoding="utf-8") as stream:
            read = json.loads(stream.read(_MOST_CHARACTERS))
        people = tuple(decode(Identity, one, "people") for one in read.get("people", ()))
        return Identities(decode(str, read["salt"], "salt"), people)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        why = (
            problem if isinstance(problem, Misfit) else getattr(problem, "strerror", None) or "it is damaged"
        )
        raise UsageError(
            f"{path}: cannot be read: {why}; it alone says who is who in this class: bring it back from a "
            "copy, or grade into another folder with -o"
        ) from None


def require_identities(out: OutFolder, *, anonymous: bool) -> Identities | None:
    """Who is who in the class that is graded now: an anonymous class stays one.

    Raises UsageError where grades with names are there already, and as `identities_in`.
    """
    graded = out.session() is not None
    if out.is_anonymous and (graded or (out.with_names / FILE).exists()):
        return identities_in(out)
    if not anonymous and not out.is_anonymous:
        return None
    if graded:
        raise UsageError(f"{out.path} holds grades under students' names; choose another folder with -o")
    return nobody_yet()


def keep(out: OutFolder, identities: Identities) -> None:
    """Write down who is who, before anything is written under a pseudonym."""
    out.be_anonymous()
    out.write_with_names({FILE: json.dumps(encode(identities), indent=1) + "\n"})


def load_identified(out: OutFolder) -> tuple[list[Grade], Identities | None]:
    """The class's stored grades with who handed them in, as `load_class` gives them, and who is who."""
    identities = identities_in(out)
    return [identified(grade, identities) for grade in load_class(out, out.submissions())], identities
