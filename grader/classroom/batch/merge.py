"""Parts of a class that were graded apart become one: one gradebook, one page, one folder to go on from.

Parts are shards of one class (`grader.classroom.batch.resume`), or classes that were handed in apart, such as
sections. Everything that decides grades has to be the same in all of them, and no student may be in two.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from grader.base.errors import StorageError, UsageError
from grader.base.records import frozen
from grader.base.text import escaped, listed, quoted
from grader.classroom.batch import places
from grader.classroom.batch.adjusting import stored_decisions
from grader.classroom.batch.folder import IMPORT, load_grade
from grader.classroom.batch.identities import identities_in
from grader.classroom.batch.identities import keep as keep_identities
from grader.classroom.batch.reading import must_be_of_one_version, readable_grades
from grader.classroom.batch.removed_students import remove_others
from grader.classroom.batch.resume import differences, write
from grader.classroom.course.anonymous import identified, named, nameless
from grader.classroom.course.decisions import FILE_NAME
from grader.classroom.course.matching import may_be_one, values_of
from grader.grading.submission.items import looks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.classroom.batch.folder import BatchSession, OutFolder
    from grader.classroom.course.anonymous import Identities
    from grader.model import Grade, Student


@frozen
class ClassPart:
    """Content of one folder: grades without evidence; ``of`` is the digest of the class of a shard."""

    out: OutFolder
    session: BatchSession
    grades: dict[str, Grade]
    of: str
    identities: Identities | None


@frozen
class MergedClass:
    """All grades, and the ids of who was in an earlier merge and is in it no more."""

    grades: tuple[Grade, ...]
    removed: tuple[str, ...]


def parts_of(folders: Sequence[OutFolder]) -> list[ClassPart]:
    """The parts of one class; raises UsageError where they do not belong together."""
    for first, second in pairwise(folders):  # before grades are read, which have to be of these sessions
        _must_be_graded_alike(first, second)
    parts = [_part(folder) for folder in folders]
    for one, other in pairwise(parts):
        _must_belong_together(one, other)
    _must_be_complete(parts)
    _must_be_apart(parts)
    return parts


def merge(parts: Sequence[ClassPart], into: OutFolder) -> MergedClass:
    """Put the parts of a class into one folder; `note_class` is to follow once the class's files are written.

    The parts stay. Raises UsageError, before anything is written, where the folder holds something else.
    """
    session = replace(parts[0].session, shard="")
    _must_take(into, session, parts)
    identities = _merged_identities(parts)
    if identities is not None:
        keep_identities(into, identities)
    kept = _files_with_names(parts)
    ids = sorted(name for part in parts for name in part.grades)
    into.begin(session, parts[0].out.journal().assignment_path)
    into.note_begun(ids, ids)
    grades = {name: grade for part in parts for name, grade in _take_over(part, into, identities)}
    into.write_with_names(kept)
    removed = remove_others(into, ids)
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
    session, state = out.graded_session(), out.state()
    if unfinished := state.unfinished():
        raise UsageError(f"{out.path}: {unfinished}; run the same command again first")
    stored_decisions(out)  # a folder without its decisions is not whole
    grades = readable_grades(out, state.names)
    if damaged := [name for name in state.names if name not in grades]:
        raise UsageError(
            f"{out.path}: the grade of {quoted(damaged)} is missing or damaged, or an "
            f"earlier batch's ({out.record_path(damaged[0])}); run the same command again first"
        )
    must_be_of_one_version(out, grades.values())
    return ClassPart(out, session, grades, state.of, identities_in(out))


def _must_be_graded_alike(one: OutFolder, other: OutFolder) -> None:
    """Two parts were graded for the same assignment, and in the same way."""
    sessions = (replace(out.graded_session(), shard="") for out in (one, other))
    if differing := differences(*sessions):
        raise UsageError(
            f"{one.path} and {other.path} differ in {', '.join(differing)}; grade one of them again as the "
            "other was"
        )


def _must_belong_together(one: ClassPart, other: ClassPart) -> None:
    """Two parts were decided about alike, and are of the same class."""
    if one.out.is_anonymous != other.out.is_anonymous:
        raise UsageError(f"{one.out.path} and {other.out.path}: only one of them has pseudonyms")
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
    """Staff decisions about the grades of a part."""
    kept = stored_decisions(out)
    return kept[1] if kept else b""


def _must_be_complete(parts: Sequence[ClassPart]) -> None:
    """Raise UsageError unless all shards of a class that was cut into shards are there, each once."""
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
    """Raise UsageError where a student is in two of the parts, or two names may be one student's."""
    names = [_by_looks(part) for part in parts]
    for (one, of_one), (other, of_other) in combinations(zip(parts, names, strict=True), 2):
        alike = sorted(of_one.keys() & of_other.keys())
        if same := [of_one[look] for look in alike if of_one[look] == of_other[look]]:
            verb = "is" if len(same) == 1 else "are"
            raise UsageError(
                f"{quoted(same)} {verb} in {one.out.path} and in {other.out.path}; leave one of them out, "
                "or grade them under different names"
            )
        if alike:
            pair = quoted([of_one[alike[0]], of_other[alike[0]]])
            raise UsageError(
                f"{pair} of {one.out.path} and {other.out.path} look alike (capitals, letters of two "
                "scripts) and may be one student; leave one out, or grade them under different names"
            )
    for one, other in combinations(parts, 2):
        _must_be_other_people(one, other)


def _must_be_other_people(one: ClassPart, other: ClassPart) -> None:
    """Raise UsageError where a student of the roster or platform is in both parts under different names."""
    by_value: dict[tuple[str, str], list[tuple[str, Student]]] = {}
    for name, student in _people(one):
        for value in values_of(student):
            by_value.setdefault(value, []).append((name, student))
    for name, student in _people(other):
        for value in values_of(student):
            for earlier, same in by_value.get(value, ()):
                if may_be_one(student, same):
                    raise UsageError(
                        f"`{escaped(earlier, 60)}` of {one.out.path} and `{escaped(name, 60)}` of "
                        f"{other.out.path} are one student by the roster or the platform (both have the "
                        f"{value[0]} `{escaped(value[1], 60)}`); leave one out, or correct the roster and "
                        "grade again"
                    )


def _people(part: ClassPart) -> list[tuple[str, Student]]:
    """The students of a part, each with the name of the submission."""
    grades = {name: identified(grade, part.identities) for name, grade in part.grades.items()}
    return [
        (named(name, part.identities), student)
        for name, grade in grades.items()
        if grade.hand_in
        for student in grade.hand_in.students
    ]


def _by_looks(part: ClassPart) -> dict[str, str]:
    """Names of the submissions of a part, by their normalized look."""
    names = (named(submission, part.identities) for submission in part.grades)
    return {looks(name): name for name in names}


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
            f"{named_one.path} has names, and {nameless_one.path} pseudonyms; choose another folder with -o"
        )


def _merged_identities(parts: Sequence[ClassPart]) -> Identities | None:
    """Identities in all parts; raises UsageError where two students drew the same pseudonym."""
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
    vouched = part.out.journal().vouched
    for name, grade in part.grades.items():
        _copy(part.out, into, name)
        hand_in = grade.hand_in
        if identities is not None:  # what stands for a student's name is salted, here with the merged class's
            hand_in = nameless(identified(grade, identities).hand_in, identities)
        older = not part.out.journal().has_checksums
        if identities is not None or older or not into.is_whole(name):
            write(into, replace(load_grade(into, name), hand_in=hand_in))
        entry = vouched[name]
        into.note(name, entry.digest, grade.verdict, entry.kept)
        yield name, replace(grade, hand_in=hand_in)


def _copy(part: OutFolder, into: OutFolder, submission: str) -> None:
    """Take over the files of a submission; raises StorageError.

    Links, and what else is neither a file nor a folder, are left out.
    """
    source, target = part.folder_of(submission), into.folder_of(submission)
    beside = target.parent / f".{submission}.part"
    try:
        if beside.is_symlink():
            beside.unlink()
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(source, beside, symlinks=True, ignore=_no_files)
        shutil.rmtree(target, ignore_errors=True)
        beside.rename(target)
    except shutil.Error as problems:  # with a tuple for each file: where from, where to, why
        file, _, why = problems.args[0][0]
        reason = why.partition("] ")[2].partition(": ")[0] or why  # less its number and the paths again
        raise StorageError(
            f"{file}: cannot be copied to {into.path}: {reason}; free some space or choose another "
            "folder with -o"
        ) from None
    except OSError as problem:
        raise StorageError(places.cannot_write(target, problem)) from None


def _no_files(folder: str, names: list[str]) -> list[str]:
    """The names in a folder that are neither of files nor of folders: links, pipes, devices."""
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}  # noqa: PTH118 - as copytree has it
    return [name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))]


def _files_with_names(parts: Sequence[ClassPart]) -> dict[str, str]:
    """The decisions that counted, and the tables of the imports: shards of a class have the same one.

    Raises UsageError where one of them is damaged.
    """
    folders = [part.out for part in parts]
    kept = stored_decisions(folders[0])
    files = {kept[0].name: kept[1].decode("utf-8", "replace")} if kept else {}
    tables = dict.fromkeys(text for out in folders if (text := _text(out, IMPORT)) is not None)
    for number, table in enumerate(tables, start=1):
        files[IMPORT if number == 1 else f"import-{number}.json"] = table
    return files


def _text(out: OutFolder, name: str) -> str | None:
    content = out.stored_file(name)
    return None if content is None else content.decode("utf-8", "replace")
