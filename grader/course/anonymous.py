"""A class whose reports name nobody: pseudonyms, and who each of them is.

A pseudonym is drawn, so that neither names nor their order can be told from it, and stays with a student for
as long as the folder of the class does. In memory a grade has its real hand-in, for rosters, decisions and
gradebooks; `nameless` is what may be written where everybody may read it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.course.matching import IDENTIFIERS
from grader.model import HandIn
from grader.submission.items import ending, stem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.course.entries import Download
    from grader.model import Finding, Grade, Submission

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without those that are taken for others."""
_LENGTH = 5


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a pseudonym is: the id and the hand-in that the submission would have under its name."""

    pseudonym: str
    submission: str
    hand_in: HandIn


@dataclass(frozen=True, slots=True)
class Identities:
    """Everybody who has been in a class; ``salt`` hides the names that personal questions are drawn for."""

    salt: str
    people: tuple[Identity, ...] = ()

    def of(self, pseudonym: str) -> Identity | None:
        """Who it is."""
        return next((one for one in self.people if one.pseudonym == pseudonym), None)


def nobody_yet() -> Identities:
    """The identities of a class before anybody is in it."""
    return Identities(secrets.token_hex(16))


def pseudonymous(download: Download, earlier: Identities) -> tuple[Download, Identities]:
    """The submissions under their pseudonyms, in the order of these, and who is who by now."""
    people = {one.submission: one for one in earlier.people}
    submissions = []
    for submission in download.submissions:
        before = people.get(submission.id)
        pseudonym = before.pseudonym if before else _drawn(one.pseudonym for one in people.values())
        hand_in = submission.hand_in or HandIn(submission.file)
        hand_in = replace(hand_in, key=hand_in.key or submission.id, anonymous=True)
        people[submission.id] = Identity(pseudonym, submission.id, hand_in)
        submissions.append(_renamed(submission, people[submission.id]))
    submissions.sort(key=lambda submission: submission.id)
    return replace(download, submissions=tuple(submissions)), replace(earlier, people=tuple(people.values()))


def _drawn(taken: Iterable[str]) -> str:
    used = set(taken)
    while True:
        pseudonym = "student-" + "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        if pseudonym not in used:
            return pseudonym


def _renamed(submission: Submission, identity: Identity) -> Submission:
    """The same work under the pseudonym, with a file name and a problem that say nothing of the student."""
    return replace(
        submission,
        id=identity.pseudonym,
        file=f"submission{ending(submission.file)}",
        problem=_without_names(submission.problem, submission, identity) if submission.problem else None,
        hand_in=identity.hand_in,
    )


def _without_names(problem: Finding, submission: Submission, identity: Identity) -> Finding:
    hand_in = identity.hand_in
    names = {submission.id, submission.file, hand_in.name, hand_in.file, hand_in.key}
    names |= {getattr(student, kind) for student in hand_in.students for kind in ("name", *IDENTIFIERS)}
    names |= {stem(name) for name in names}
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    message = re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", identity.pseudonym, problem.message)
    return replace(problem, message=message, file=f"submission{ending(problem.file)}" if problem.file else "")


def nameless(hand_in: HandIn | None, identities: Identities | None) -> HandIn | None:
    """What of a hand-in may be written in an anonymous class; all of it in any other."""
    if identities is None or hand_in is None:
        return hand_in
    key = hashlib.sha256(f"{identities.salt}:{hand_in.key}".encode(errors="backslashreplace")).hexdigest()
    return HandIn(name="", layout=hand_in.layout, late=hand_in.late, key=key[:16], anonymous=True)


def identified(grade: Grade, identities: Identities | None) -> Grade:
    """A stored grade with its real hand-in."""
    identity = identities.of(grade.submission_id) if identities else None
    return replace(grade, hand_in=identity.hand_in) if identity else grade


def named(submission: str, identities: Identities | None) -> str:
    """The id that a submission has under its name."""
    identity = identities.of(submission) if identities else None
    return identity.submission if identity else submission


def pseudonym_of(submission: str, identities: Identities) -> str:
    """What a submission is called here, by its id under its name; any other word as it is."""
    return next((one.pseudonym for one in identities.people if one.submission == submission), submission)
