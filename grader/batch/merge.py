"""Parts of a class that were graded apart become one: one gradebook, one page, one folder to go on from.

Parts are shards of one class (`grader.batch.resume`), or classes that were handed in apart, such as sections.
Everything that decides grades has to be the same in all of them, and nobody may be in two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from grader.batch.adjusting import BESIDE
from grader.batch.folder import IMPORT, load_grade
from grader.batch.identities import identities_in
from grader.batch.identities import keep as keep_identities
from grader.batch.reading import must_be_of_one_version, readable_grades
from grader.batch.resume import differences, write
from grader.course.anonymous import identified, named, nameless
from grader.course.decisions import FILE_NAME
from grader.errors import UsageError
from grader.text import listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.batch.folder import BatchSession, OutFolder
    from grader.course.anonymous import Identities
    from grader.model import Grade


@dataclass(frozen=True, slots=True)
class ClassPart:
    """What one folder holds: grades without their evidence; ``of`` is the digest of the class of a shard."""

    out: OutFolder
    session: BatchSession
    grades: dict[str, Grade]
    of: str
    identities: Identities | None


@dataclass(frozen=True, slots=True)
class MergedClass:
    """All grades, and the ids of who was in an earlier merge and is in it no more."""

    grades: tuple[Grade, ...]
    removed: tuple[str, ...]


def parts_of(folders: Sequence[OutFolder]) -> list[ClassPart]:
    """The parts of one class; raises UsageError where they do not belong together."""
    parts = [_part(folder) for folder in folders]
    for one, other in pairwise(parts):
        _must_belong_together(one, other)
    _must_be_complete(parts)
    _must_be_apart(parts)
    return parts


def merge(parts: Sequence[ClassPart], into: OutFolder) -> MergedClass:
    """Put the parts of a class into one folder. The parts stay as they are.

    Raises UsageError, before anything is written, where the folder holds something else.
    """
    session = replace(parts[0].session, shard="")
    _must_take(into, session, parts)
    identities = _merged_identities(parts)
    if identities is not None:
        keep_identities(into, identities)
    into.begin(session)
    grades = {name: grade for part in parts for name, grade in _take_over(part, into, identities)}
    _take_over_files_with_names(parts, into)
    ids = sorted(grades)
    into.note_class(ids)
    removed = into.remove_others(ids)
    return MergedClass(tuple(identified(grades[name], identities) for name in ids), removed)


def must_be_another(into: OutFolder, folders: Sequence[OutFolder]) -> None:
    """The folder of the whole class is none of the parts, nor in one."""
    path = into.path.resolve()
    for folder in folders:
        part = folder.path.resolve()
        if path.is_relative_to(part):
            where = "is" if path == part else f"lies in {folder.path}, which is"
            raise UsageError(f"{into.path} {where} one of the parts; choose another folder with -o")


def _part(out: OutFolder) -> ClassPart:
    session, last = out.graded_session(), out.last_class()
    if last is None:
        raise UsageError(f"{out.path}: its batch has not come to its end; run the same command again first")
    submissions, of = last
    grades = readable_grades(out, submissions)
    if damaged := [name for name in submissions if name not in grades]:
        raise UsageError(
            f"{out.path}: the grade of {quoted(damaged)} is missing or damaged; run the same command again "
            "first"
        )
    must_be_of_one_version(out, grades.values())
    return ClassPart(out, session, grades, of, identities_in(out))


def _must_belong_together(one: ClassPart, other: ClassPart) -> None:
    """Two parts were graded for the same assignment, in the same way, and decided about alike."""
    sessions = (replace(part.session, shard="") for part in (one, other))
    if differing := differences(*sessions):
        raise UsageError(
            f"{one.out.path} and {other.out.path} differ in {', '.join(differing)}; grade one of them again "
            "as the other was"
        )
    if one.out.is_anonymous != other.out.is_anonymous:
        raise UsageError(f"{one.out.path} and {other.out.path}: only one of them names nobody")
    if _decisions(one.out) != _decisions(other.out):
        raise UsageError(
            f"{one.out.path} and {other.out.path} differ in {FILE_NAME}; grade both again with the same "
            "--adjustments"
        )
    if bool(one.session.shard) != bool(other.session.shard):
        shard, whole = (one, other) if one.session.shard else (other, one)
        raise UsageError(
            f"{shard.out.path} holds shard {shard.session.shard}, and {whole.out.path} a whole class; leave "
            "one of them out"
        )
    if one.of != other.of:
        raise UsageError(
            f"{one.out.path} and {other.out.path} are of different classes; grade both again, from the same "
            "download, and with the same --roster"
        )


def _decisions(out: OutFolder) -> bytes:
    """What staff decided about the grades of a part."""
    for name in (FILE_NAME, BESIDE):
        if (path := out.with_names / name).is_file():
            return path.read_bytes()
    return b""


def _must_be_complete(parts: Sequence[ClassPart]) -> None:
    """Of a class that was cut into shards all are there, each once."""
    shards = [part.session.shard for part in parts]
    if not any(shards):
        return
    for part in parts:
        again = [str(other.out.path) for other in parts if other.session.shard == part.session.shard]
        if len(again) > 1:
            raise UsageError(f"{listed(again)} both hold shard {part.session.shard}; leave one of them out")
    numbers = {shard.partition("/")[2] for shard in shards}
    if len(numbers) > 1:
        raise UsageError(f"these are shards of different cuts of the class: {listed(shards)}")
    (of,) = numbers
    missing = [f"{number}/{of}" for number in range(1, int(of) + 1) if f"{number}/{of}" not in shards]
    if missing:
        raise UsageError(f"shard {quoted(missing)} is missing; grade it, then name its folder, too")


def _must_be_apart(parts: Sequence[ClassPart]) -> None:
    """Nobody is in two of the parts."""
    names = [{named(submission, part.identities) for submission in part.grades} for part in parts]
    for (one, of_one), (other, of_other) in combinations(zip(parts, names, strict=True), 2):
        if in_both := sorted(of_one & of_other):
            verb = "is" if len(in_both) == 1 else "are"
            raise UsageError(
                f"{quoted(in_both)} {verb} in {one.out.path} and in {other.out.path}; leave one of them out, "
                "or grade them under different names"
            )


def _must_take(into: OutFolder, session: BatchSession, parts: Sequence[ClassPart]) -> None:
    """The new folder holds nothing, or what an earlier merge of the same batches made."""
    earlier = into.session()
    if earlier is None:
        return
    if earlier != session:
        differing = ", ".join(differences(earlier, session))
        raise UsageError(
            f"{into.path} holds other grades: they differ in {differing}; choose another folder with -o"
        )
    if into.is_anonymous != parts[0].out.is_anonymous:  # names would stay beside pseudonyms
        named_one, nameless_one = (parts[0].out, into) if into.is_anonymous else (into, parts[0].out)
        raise UsageError(
            f"{named_one.path} names students, and {nameless_one.path} nobody; choose another folder with -o"
        )


def _merged_identities(parts: Sequence[ClassPart]) -> Identities | None:
    """Who is who in all parts; raises UsageError where two students drew the same pseudonym."""
    all_identities = [part.identities for part in parts if part.identities is not None]
    if not all_identities:
        return None
    people = tuple(person for identities in all_identities for person in identities.people)
    (pseudonym, times), *_ = Counter(person.pseudonym for person in people).most_common(1)
    if times > 1:
        raise UsageError(f"two students are called {pseudonym}; grade one of the parts again with --fresh")
    return replace(all_identities[0], people=people)


def _take_over(
    part: ClassPart, into: OutFolder, identities: Identities | None
) -> Iterator[tuple[str, Grade]]:
    """Copy a part's submissions, and vouch for those that it vouches for; gives their grades by id."""
    finished = part.out.finished()
    for name, grade in part.grades.items():
        into.copy_submission(part.out, name)
        hand_in = grade.hand_in
        if identities is not None:  # what stands for a student's name is salted, here with the merged class's
            hand_in = nameless(identified(grade, identities).hand_in, identities)
        if identities is not None or not into.is_whole(name):
            write(into, replace(load_grade(into, name), hand_in=hand_in))
        if digest := finished.get(name):
            into.note(name, digest, grade.verdict)
        yield name, replace(grade, hand_in=hand_in)


def _take_over_files_with_names(parts: Sequence[ClassPart], into: OutFolder) -> None:
    """Keep the decisions that counted, and the tables of the imports: shards of a class have the same one."""
    folders = [part.out.with_names for part in parts]
    files = {name: text for name in (FILE_NAME, BESIDE) if (text := _text(folders[0] / name)) is not None}
    tables = dict.fromkeys(text for folder in folders if (text := _text(folder / IMPORT)) is not None)
    for number, table in enumerate(tables, start=1):
        files[IMPORT if number == 1 else f"import-{number}.json"] = table
    into.write_with_names(files)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
