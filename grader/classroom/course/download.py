"""A download of a learning platform, a folder or an archive → whose submission is whose.

    path ─open▶ Level ─layouts▶ entries ─sort▶ a student's newest attempt ─read▶ Submission
                                     └▶ what is left out, and what staff have to decide

Of folders and files that no platform named it is asked which of them are students', and at which level they
lie. Nothing is executed, nothing is written, and nothing is guessed: what cannot be matched with certainty is
a `StaffQuestion`, before anything is graded.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.data_files import with_slashes
from grader.base.errors import UsageError
from grader.base.text import did_you_mean, escaped, listed
from grader.classroom.course.entries import (
    PLAIN,
    Doubt,
    Download,
    Entry,
    Left,
    Level,
    Omission,
    StaffQuestion,
)
from grader.classroom.course.layouts import LAYOUTS
from grader.grading.submission import SOURCE, read_as
from grader.grading.submission.archives import Folder, opened_class
from grader.grading.submission.folders import holds, settle
from grader.grading.submission.items import (
    ARCHIVES,
    UNREAD_ARCHIVES,
    Bundle,
    OnDisk,
    Unusable,
    disguised,
    dotted,
    ending,
    entries,
    ids,
    is_our_output,
    looks,
    safe,
    stem,
)
from grader.model import HandIn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.grading.submission.folders import Wanted
    from grader.grading.submission.items import Item
    from grader.model import Submission

MAX_LEVELS = 6
"""Maximum depth of folders in the search for the students'."""

_PLATFORM_FILES = re.compile(
    r"readme.*|licen[cs]e.*|makefile|cmakelists\.txt|comments\.txt|timestamp\.txt|index\.html?"
    r"|submission_metadata\.yml|.*\.(?:csv|tsv|xlsx?|ods)",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPER = re.compile(r"(?:.+_)?export|.+-submissions(?:-\d\d-\d\d-\d{4}.*)?", re.DOTALL)
"""Names of the folder in the archives of Gradescope and of GitHub Classroom."""

_BY_LIST = ("Gradescope", "repositories")
"""Layouts that a file says more of than the names of the folders."""

_COPY = re.compile(r"(?P<base>.+) \(\d{1,3}\)", re.DOTALL)


def read_download(
    path: Path, expected: Wanted = SOURCE, assignment: str = "", out: Path | None = None
) -> Download:
    """Read the submissions at ``path``: a file, a folder, an archive, or a download as it comes.

    In a folder that no platform named, each file that may hold what is ``expected`` is a submission, and so
    is each folder (`grader.grading.submission.read_submission`). Of students' folders with one for each
    ``assignment``, the one called so is taken. The folder ``out`` of grades is no student's; another one that
    looks like it is in doubt, for a student can make that.

    Raises `UsageError` if there is nothing at ``path``, or nothing in it.
    """
    with ExitStack() as stack:
        try:
            return _read(path, stack, expected, assignment, out)
        except (OSError, RuntimeError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or "not a usable path").lower()
            if isinstance(error, FileNotFoundError):
                reason += _similar_path_hint(path)
            raise UsageError(f"cannot read submissions from `{escaped(str(path))}`: {reason}") from error
        except Unusable as unusable:
            raise UsageError(f"cannot read submissions from `{escaped(str(path))}`: {unusable}") from unusable


def read_only_one(path: Path, expected: Wanted = SOURCE) -> Download:
    """Read what lies at ``path`` as one student's, whose everything in it is: no list there says whose it is.

    Raises `UsageError` if there is nothing at ``path``.
    """
    shown = escaped(str(path))
    if not path.exists():
        hint = _similar_path_hint(path)
        raise UsageError(f"cannot read submissions from `{shown}`: no such file or directory{hint}")
    item = OnDisk(path.resolve())
    entry = _alone(item, item.name if item.is_folder else stem(item.name))
    return _sorted(item.name, PLAIN, (entry,), (), (), expected)


def _similar_path_hint(path: Path) -> str:
    """Hint for a path that does not exist: a similar name in its folder, or that there is none."""
    if (here := with_slashes(path)).exists():
        return f"; did you mean `{escaped(str(here))}`?"
    folder = path.absolute().parent
    try:
        names = [escaped(entry.name) for entry in folder.iterdir()]
    except OSError:
        return ""
    if not names:
        return f"; its folder {escaped(str(folder))} is empty"
    near = did_you_mean(path.name, names)
    return f"; {near}" if near else ""


def _read(path: Path, stack: ExitStack, expected: Wanted, assignment: str, out: Path | None) -> Download:
    folder = path if path.is_dir() else path.resolve()
    path.stat()
    top: OnDisk | Folder = OnDisk(folder, out=out.resolve() if out else None)
    if not path.is_dir():
        if ending(folder.name) not in ARCHIVES or not top.is_file:
            return _sorted(folder.name, PLAIN, (_alone(top, stem(folder.name)),), (), (), expected)
        top = opened_class(folder.name, stack.enter_context(folder.open("rb")))
        if single := _one_students(top, stem(folder.name), expected):
            return _sorted(folder.name, PLAIN, (single,), (), (), expected)
    layout, level, beside, recognised = _students_level(top, folder.resolve().name, expected, assignment)
    alone = recognised is not None and len({entry.key for entry in recognised}) == 1
    if alone and isinstance(top, OnDisk) and _lies_in_download(folder.resolve(), expected):
        return read_only_one(folder, expected)
    if recognised is None:
        read, questions = plain(level, expected.opened, assignment)
    elif alone and (level.depth or layout in _BY_LIST) and not _is_wrapper(level):
        read, questions = (), (_whose_list(level, recognised),)
    else:
        read, questions = recognised, ()
    omissions, strangers = _others(level, read, questions)
    if not read and not questions and not strangers:
        raise UsageError(_nothing(path, expected))
    name = folder.resolve().name if folder.name in ("", "..") else folder.name
    return _sorted(name, layout, read, (*beside, *omissions), (*questions, *strangers), expected)


def _nothing(path: Path, expected: Wanted) -> str:
    shown, endings = escaped(str(path)), listed(expected.groups[0], "or")
    return f"there is nothing in `{shown}`; expected {endings} files, or a folder for each student"


def _alone(item: Item, label: str) -> Entry:
    return Entry(item, label, label, item.name, file=item.name)


def _one_students(top: Folder, label: str, expected: Wanted) -> Entry | None:
    """The archive as one student's: files with one source among them, perhaps in a folder of their own."""
    items = top.items()
    if any(recognise(Level(label, tuple(items))) is not None for recognise in LAYOUTS.values()):
        return None
    for _ in range(MAX_LEVELS):
        if len(items) != 1 or not items[0].is_folder:
            break
        items = items[0].items()
    endings = Counter(ending(item.name) for item in items)
    other_endings = endings.keys() - set(expected.groups[0])
    sources = sum(endings[one] for one in expected.groups[0])
    lonely = sources == 1 and not any(item.is_folder for item in items)
    if not lonely or not other_endings <= {*expected.endings} - {".c", ".cpp"}:
        return None
    return _alone(Bundle(label, tuple(items)), label)


def _students_level(
    top: OnDisk | Folder, name: str, expected: Wanted, assignment: str
) -> tuple[str, Level, tuple[Omission, ...], tuple[Entry, ...] | None]:
    """The folder in which each entry is a student's, what lies beside it, and the layout's facts about it."""
    first = level = _level(top, name, expected)
    beside: tuple[Omission, ...] = ()
    for _ in range(MAX_LEVELS):
        for layout, recognise in LAYOUTS.items():
            if (recognised := recognise(level)) is not None:
                return layout, level, beside, recognised
        unwrap = isinstance(top, Folder) or _holds_download(level, expected)
        below = next_level(level, expected.opened, assignment, unwrap=unwrap)
        if not isinstance(below, OnDisk | Folder):
            return PLAIN, level, beside, None
        next_to = tuple(item for item in level.items if item.name != below.name)
        omissions = [Omission(item.name, Left.BESIDE) for item in next_to]
        beside = (*beside, *omissions, *(Omission(hidden, Left.HIDDEN) for hidden in level.hidden))
        level = replace(_level(below, below.name, expected), beside=next_to, depth=level.depth + 1)
    return PLAIN, first, (), None


def _is_wrapper(level: Level) -> bool:
    """True if a folder that no student names is called as a platform calls it around the students'."""
    return level.depth <= 1 and _WRAPPER.fullmatch(level.name) is not None


def _whose_list(level: Level, recognised: Sequence[Entry]) -> StaffQuestion:
    """Question about the only student's folder that has names as of a platform in it, or a list of them.

    A platform wrote that around it, or the student wrote it into it.
    """
    entry = recognised[0]
    people = tuple(dict.fromkeys(person.name or person.login or person.id for person in entry.students))
    return StaffQuestion(Doubt.OWN_LIST, tuple(item.name for item in level.items), people or (entry.name,))


def _lies_in_download(folder: Path, expected: Wanted) -> bool:
    """True if the folder around this one is a platform's download, of which this is one student's part."""
    try:
        around = _level(OnDisk(folder.parent), folder.parent.name, expected)
        recognised = [recognise(around) or () for recognise in LAYOUTS.values()]
    except (OSError, UsageError, Unusable):
        return False
    return any(entry.file == folder.name for entries in recognised for entry in entries)


def _holds_download(level: Level, expected: Wanted) -> bool:
    """True if the only thing here is a folder with names that a platform wrote."""
    only = level.items[0] if len(level.items) == 1 else None
    if not isinstance(only, OnDisk) or not only.is_folder:
        return False
    inner = _level(only, only.name, expected)
    return any(recognise(inner) is not None for recognise in LAYOUTS.values())


def _level(folder: OnDisk | Folder, name: str, expected: Wanted) -> Level:
    """Content of the folder, where no entry may lead into another by a link."""
    if isinstance(folder, Folder):
        return Level(name, tuple(folder.items()), tuple(sorted(folder.hidden)))
    shown = [*entries(folder.path, folder.out), *dotted(folder.path, (*expected.endings, *ARCHIVES))]
    hidden = sorted({entry.name for entry in folder.path.iterdir()} - {entry.name for entry in shown})
    items = tuple(OnDisk(entry, out=folder.out) for entry in sorted(shown))
    return Level(name, items, tuple(hidden))


def _others(
    level: Level, recognised: Sequence[Entry], questions: Sequence[StaffQuestion]
) -> tuple[tuple[Omission, ...], tuple[StaffQuestion, ...]]:
    """Names that belong to no entry: files of the platform, and unknown ones."""
    names = {entry.file for entry in recognised} | {name for question in questions for name in question.names}
    remaining = [item for item in level.items if item.name not in names]
    files = {item.name for item in remaining if not item.is_folder and _PLATFORM_FILES.fullmatch(item.name)}
    unknown = tuple(item.name for item in remaining if item.name not in files)
    omissions = [
        *(Omission(name, Left.HIDDEN) for name in level.hidden),
        *(Omission(item.name, Left.PLATFORM) for item in remaining if item.name in files),
    ]
    return tuple(omissions), (StaffQuestion(Doubt.STRANGE, unknown),) if unknown else ()


def _sorted(
    name: str,
    layout: str,
    recognised: tuple[Entry, ...],
    omissions: tuple[Omission, ...],
    questions: tuple[StaffQuestion, ...],
    expected: Wanted,
) -> Download:
    """Each student's newest attempt, read; all before it is left out."""
    by_student: dict[str, list[Entry]] = {}
    for entry in recognised:
        by_student.setdefault(entry.key, []).append(entry)
    doubts = _doubts(by_student, clashes=layout == PLAIN)
    doubtful = {name for question in doubts for name in question.names}
    counted = {}
    omitted = list(omissions)
    for key, several in by_student.items():
        if several[0].file in doubtful:
            continue
        if all(entry.left for entry in several):  # what staff sent back, and nothing else
            omitted += [Omission(entry.file, entry.left or Left.FEEDBACK, entry.label) for entry in several]
            continue
        chosen, earlier = _newest(several)
        omitted += [Omission(entry.file, entry.left or Left.EARLIER, chosen[0].label) for entry in earlier]
        counted[key] = chosen
    unique = ids({key: chosen[0].label for key, chosen in counted.items()})
    read = [_submission(chosen, unique[key], layout, expected) for key, chosen in counted.items()]
    read.sort(key=lambda submission: submission.id)
    return Download(name, layout, tuple(read), tuple(omitted), (*questions, *doubts))


def _newest(several: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The files of the attempt that counts, and all else of this student."""
    files = [entry for entry in several if entry.left is None]
    last = max(entry.order for entry in files)
    chosen = [entry for entry in files if entry.order == last]
    return chosen, [entry for entry in several if entry.left is not None or entry.order != last]


def _doubts(by_student: dict[str, list[Entry]], *, clashes: bool) -> tuple[StaffQuestion, ...]:
    """Questions to staff about a student, or about two who share a key."""
    questions = []
    for several in by_student.values():
        files = [entry for entry in several if entry.left is None]
        names = tuple(dict.fromkeys(entry.file for entry in several))
        people = tuple(dict.fromkeys(entry.name for entry in several if entry.students))
        if not files:
            reasons = {entry.left for entry in several}
            if reasons != {Left.FEEDBACK}:
                questions.append(StaffQuestion(Doubt.TEXT_ONLY, names))
        elif len({name.casefold() for name in people}) > 1:
            questions.append(StaffQuestion(Doubt.SAME_ID, names, people))
        elif _unclear(several, files):
            questions.append(StaffQuestion(Doubt.ATTEMPTS, names))
    return (*questions, *_lookalikes(by_student), *(_clashes(by_student) if clashes else ()))


def _unclear(several: list[Entry], files: list[Entry]) -> bool:
    """True if the newest attempt is not certain, or one has no file and an older one has."""
    orders, attempts = {entry.order for entry in files}, {entry.attempt for entry in files}
    unreadable = len(attempts) > 1 and any(order == ("",) for order in orders)
    receipts = [entry.order for entry in several if entry.left is Left.RECEIPT]
    return len(orders) < len(attempts) or unreadable or max(receipts, default=()) > max(orders)


def _lookalikes(by_student: dict[str, list[Entry]]) -> list[StaffQuestion]:
    """Questions about names that look alike, or of which one id would be made: `ada` and `a b`, `a_b`.

    Neither may come into the other's decisions, grade or row of the gradebook. Names that differ in nothing
    but capitals are asked about as `_clashes`.
    """
    alike: dict[str, list[Entry]] = {}
    for several in by_student.values():
        alike.setdefault(looks(safe(several[0].label)), []).append(several[0])
    return [
        StaffQuestion(Doubt.LOOK_ALIKE, tuple(entry.file for entry in entries), _difference(entries))
        for entries in alike.values()
        if len({_plain_form(entry.label) for entry in entries}) > 1
    ]


def _difference(entries: list[Entry]) -> tuple[str, ...]:
    """The letters that are not what they look like; where there are none, the ids that would be made."""
    labels = [entry.label for entry in entries]
    letters = dict.fromkeys(letter for label in labels for letter in disguised(label))
    if letters:
        return tuple(f"U+{ord(letter):04X} {unicodedata.name(letter, 'a letter')}" for letter in letters)
    return tuple(dict.fromkeys(map(safe, labels)))


def _clashes(by_student: dict[str, list[Entry]]) -> list[StaffQuestion]:
    """Entries whose owners cannot be distinguished: `ada.cu` and `ada/`, `k.cu` and `k (1).cu`."""
    alike: dict[str, list[str]] = {}
    for several in by_student.values():
        alike.setdefault(_plain_form(several[0].label), []).append(several[0].file)
    questions = [StaffQuestion(Doubt.SAME_NAME, tuple(names)) for names in alike.values() if len(names) > 1]
    copies: dict[str, list[str]] = {}
    for form, names in alike.items():
        match = _COPY.fullmatch(form)
        copies.setdefault(match["base"] if match else form, []).extend(names)
    return [
        *questions,
        *(
            StaffQuestion(Doubt.COPIES, tuple(names))
            for base, names in copies.items()
            if len(names) > len(alike.get(base, ())) and len(names) > 1
        ),
    ]


def _plain_form(label: str) -> str:
    return unicodedata.normalize("NFC", label).casefold()


def _submission(chosen: list[Entry], submission_id: str, layout: str, expected: Wanted) -> Submission:
    first = chosen[0]
    folder = first.item if len(chosen) == 1 and (first.item.is_folder or layout == PLAIN) else None
    item = folder or Bundle(first.label, tuple(entry.item for entry in chosen))
    late = [entry.late for entry in chosen if entry.late is not None]
    hand_in = HandIn(
        name=first.name,
        layout=layout,
        file=first.file,
        students=first.students,
        attempt=first.attempt,
        attempts=first.attempts,
        late=any(late) if late else None,
        time=first.time,
    )
    return replace(read_as(item, submission_id, expected), hand_in=hand_in)


Groups = tuple[tuple[str, ...], ...]

_HANDED_IN = "submitted files"
"""Folder that Teams keeps beside ``Working files``."""

_MOST_ASKED = 200
"""Maximum number of folders of a level that are looked into, in search of the level that is meant."""


def plain(
    level: Level, groups: Groups, assignment: str
) -> tuple[tuple[Entry, ...], tuple[StaffQuestion, ...]]:
    """Entries, one for each student, and questions that only staff can answer.

    A file is a submission by its ending, also that of an archive which cannot be read. So is a folder, even
    with nothing in it that can be graded, for its student shall hear that; where something lies in several
    folders below, or it looks like an output of ours, it is asked about.
    """
    endings = {suffix for group in groups for suffix in group}
    entries: list[Entry] = []
    questions: list[StaffQuestion] = []
    outputs: list[StaffQuestion] = []
    for item in level.items:
        if not item.is_folder:
            if ending(item.name) in {*endings, *UNREAD_ARCHIVES} or not item.is_file:
                entries.append(Entry(item, item.name, stem(item.name), item.name, file=item.name))
            continue
        if isinstance(item, OnDisk) and is_our_output(item.path):
            outputs.append(StaffQuestion(Doubt.OUTPUT, (item.name,)))
            continue
        try:
            inner = settle(item, groups, assignment)
        except Unusable:  # its student will hear why
            entries.append(Entry(item, item.name, item.name, item.name, file=item.name))
            continue
        if inner.several:
            questions.append(StaffQuestion(Doubt.SEVERAL, (item.name,), inner.several))
            continue
        entries += [
            Entry(item, item.name, item.name, item.name, left=Left.EARLIER, file=f"{item.name}/{name}")
            for name in inner.earlier
        ]
        entries.append(
            Entry(
                inner.folder,
                item.name,
                item.name,
                item.name,
                attempt=inner.attempt,
                attempts=len(inner.earlier) + 1,
                file=item.name,
            )
        )
    if questions and not entries:
        names = tuple(name for question in questions for name in question.names)
        return (), (StaffQuestion(Doubt.LEVEL, names, questions[0].detail), *outputs)
    return tuple(entries), (*questions, *outputs)


def next_level(level: Level, groups: Groups, assignment: str, *, unwrap: bool) -> Item | None:
    """The folder in which the students' are, where they are not here: None where this level is the one.

    It is the only folder (in an archive, which is to be ``unwrap``ped, with any content; on disk where it
    holds several students' and no source of its own), the one that is called like the assignment, or the only
    one that may be.
    """
    endings = {suffix for group in groups for suffix in group}
    folders = [item for item in level.items if item.is_folder]
    if len(level.items) == 1 and folders:
        return folders[0] if unwrap or _holds_several(folders[0], groups) else None
    if of_teams := [item for item in folders if item.name.casefold() == _HANDED_IN]:
        return of_teams[0]
    if any(
        _settles(item, groups) if item.is_folder else ending(item.name) in endings for item in level.items
    ):
        return None
    if of_assignment := [item for item in folders if assignment and item.name == assignment]:
        return of_assignment[0]
    holding = [item for item in folders[:_MOST_ASKED] if holds(item, tuple(endings))]
    return holding[0] if len(holding) == 1 else None


def _settles(item: Item, groups: Groups) -> bool:
    """True if a folder certainly is one student's."""
    endings = {one for group in groups for one in group}
    try:
        inner = settle(item, groups)
    except Unusable:
        return True
    return any(not one.is_folder and ending(one.name) in endings for one in inner.items)


def _holds_several(folder: Item, groups: Groups) -> bool:
    """True if no source certainly is a folder's own, but several students' folders or archives lie in it."""
    try:
        inner = settle(folder, groups)
    except Unusable:
        return False
    sources = {suffix for group in groups for suffix in group}.difference(ARCHIVES)
    if any(not item.is_folder and ending(item.name) in sources for item in inner.items):
        return False
    archives = [item for item in inner.items if not item.is_folder and ending(item.name) in ARCHIVES]
    return len(inner.several) + len(archives) > 1 or bool(archives and inner.items != tuple(archives))
