"""A class whose reports contain no names: pseudonyms, and the identity of each.

A pseudonym is drawn, so that neither names nor their order can be derived from it, and stays with a student
for as long as the folder of the class does. In memory a grade has its real hand-in, for rosters, decisions
and gradebooks; `nameless` is the part that may be written where all may read it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.classroom.course.matching import IDENTIFIERS
from grader.grading.submission.items import ending, stem
from grader.model import HandIn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.classroom.course.entries import Download
    from grader.model import Finding, Grade, Submission

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits of pseudonyms, without those that are mistaken for others."""
_LENGTH = 5


@frozen
class Identity:
    """Identity behind a pseudonym: the id and hand-in that the submission would have under its name."""

    pseudonym: str
    submission: str
    hand_in: HandIn


@frozen
class Identities:
    """All students who have been in a class; ``salt`` hides the names for which questions are drawn."""

    salt: str
    people: tuple[Identity, ...] = ()

    def of(self, pseudonym: str) -> Identity | None:
        """The identity behind a pseudonym."""
        return next((one for one in self.people if one.pseudonym == pseudonym), None)


def empty_identities() -> Identities:
    """The identities of a class without any student."""
    return Identities(secrets.token_hex(16))


def pseudonymous(download: Download, earlier: Identities) -> tuple[Download, Identities]:
    """Submissions under their pseudonyms, in the order of these, and the identities by now."""
    people = {one.submission: one for one in earlier.people}
    submissions = []
    for submission in download.submissions:
        before = people.get(submission.id)
        pseudonym = before.pseudonym if before else _new_pseudonym(one.pseudonym for one in people.values())
        hand_in = submission.hand_in or HandIn(submission.file)
        hand_in = replace(hand_in, key=hand_in.key or submission.id, anonymous=True)
        people[submission.id] = Identity(pseudonym, submission.id, hand_in)
        submissions.append(_renamed(submission, people[submission.id]))
    submissions.sort(key=lambda submission: submission.id)
    return replace(download, submissions=tuple(submissions)), replace(earlier, people=tuple(people.values()))


def _new_pseudonym(taken: Iterable[str]) -> str:
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
    """Part of a hand-in that may be written in an anonymous class; all of it in any other."""
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
    """Name of a submission here, by its id under its name; any other word as it is."""
    return next((one.pseudonym for one in identities.people if one.submission == submission), submission)
