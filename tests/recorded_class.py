"""A class that was graded, made of stored grades: what a batch writes, in a moment and without a compiler."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.classroom.batch import BatchSession, OutFolder
from grader.classroom.batch.class_page import class_files
from grader.classroom.batch.executor import Graded
from grader.classroom.batch.folder import IMPORT
from grader.classroom.batch.identities import keep
from grader.classroom.batch.reading import load_class
from grader.classroom.batch.resume import store
from grader.classroom.course.anonymous import Identities, Identity, nameless
from grader.model import Build, CaseEvidence, Evidence, HandIn, Student, Submission
from tests.reports.sample_grades import (
    CASES,
    SOURCE,
    compile_error,
    full_marks,
    missing_barrier,
    partial_credit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.model import Grade

SESSION = BatchSession("tiled-matmul", "d" * 64, "emulator", 7, "0.1.0", "13.0")
STUDENTS = {"ada": full_marks, "bob": partial_credit, "cy": missing_barrier, "dee": compile_error}
DECISIONS = "students:\n  zoe: {score: 80, comment: seen, by: Tim}\n"
TRACE = bytes(range(256)) * 4
_EVIDENCE = Evidence("emulator", Build(ok=True, digest="d1"), tuple(map(CaseEvidence, CASES)))


def submission_of(name: str, hand_in: HandIn | None = None) -> Submission:
    """A submission with a kernel and a header."""
    source = "\n".join([*SOURCE, f"// {name}"]).encode()
    digest = sha256(source).hexdigest()
    header = (("own.h", b"#define OWN 1\n"),)
    return Submission(name, f"{name}.cu", source, digest, headers=header, hand_in=hand_in)


def person(name: str) -> HandIn:
    """The hand-in of the student with this name."""
    return HandIn(name, students=(Student(name=name.title(), email=f"{name}@x.org"),))


def grade_of(name: str, submission: Submission) -> Grade:
    """A grade of each kind, of the session's assignment."""
    return replace(
        STUDENTS[name](),
        assignment_id=SESSION.assignment,
        assignment_digest=SESSION.assignment_digest,
        submission_id=submission.id,
        submission_file=submission.file,
        submission_digest=submission.digest,
        seed=SESSION.seed,
        hand_in=submission.hand_in,
        evidence=_EVIDENCE,
    )


def recorded(
    folder: Path,
    students: Sequence[str] = tuple(STUDENTS),
    *,
    graded: int = 9,
    anonymous: bool = False,
    hand_in: HandIn | None = None,
) -> OutFolder:
    """A class of which a number are graded, and then the batch was stopped; all of them, and it is done.

    With a ``hand_in`` it is that of all of them.
    """
    out = OutFolder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".lock").touch()
    identities = None
    if anonymous:
        people = (Identity(name, f"real-{name}", hand_in or person(name)) for name in students)
        identities = Identities("s" * 32, tuple(people))
        keep(out, identities)
    out.begin(SESSION)
    out.write_with_names(
        {IMPORT: '{"format_version": 1, "submissions": []}\n', "adjustments.yaml": DECISIONS}
    )
    out.note_begun(students, students)
    for name in students[:graded]:
        submission = submission_of(name, nameless(hand_in or person(name), identities))
        trace = TRACE if name == "cy" else b""
        store(out, Graded(grade_of(name, submission), trace), submission)
    if graded >= len(students):
        out.note_class(students)
        out.write(class_files(out, load_class(out, out.submissions())))
    return out
