"""Owners of the entries of a download: a function for each platform, from the names that it writes.

    Moodle        ``Ada Lovelace_12345_assignsubmission_file_/kernel.cu`` (from 4.1 on no last ``_``),
                  or in one name ``Ada Lovelace_12345_assignsubmission_file_kernel.cu``; of teams
                  ``Team 12_77_…`` with the number of the team, and none for who is in no team;
                  ``…_onlinetext`` is a text, ``…_assignfeedback_…`` what staff sent back
    Canvas        ``lovelaceada_12345_678901_kernel.cu``, ``lovelaceada_LATE_12345_…``, ``anon_a1B2c_…``;
                  ``-1`` before the ending counts uploads of one name; ``…_text.html`` is no file
    Blackboard    ``HW3_ada_attempt_2026-11-01-10-00-00_kernel.cu``; without the last part, a receipt
    Brightspace   ``12345-67890 - Ada Lovelace - Nov 1, 2026 1000 AM``, a folder, or before `` - kernel.cu``
    Sakai         ``Lovelace, Ada(ada)/Submission attachment(s)/kernel.cu``
    ILIAS         ``Lovelace_Ada_ada_4711``, in ``Team 12`` where teams handed in
    GitHub        ``hw3-submissions/hw3-ada``, with ``grades.csv`` in it or beside; Artemis: ``CS101HW3-ada``

`gradescope` reads the one that explains itself in a file. Sources: Canvas' content_zipper.rb, Moodle's
importziplib.php, the documents of the others. A name of any other form stays as it is: nothing is guessed.

Of GitHub Classroom the list of an assignment, ``grades.csv``, says whose a repository is, and when it was
pushed. Its columns are those of ``gh classroom assignment-grades`` and of "download grades"; a team's
repository has a row for each member. The repository itself is not asked: its author writes the dates of its
commits.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.text import escaped, one_line
from grader.classroom.course.entries import Entry, Left, Level
from grader.classroom.course.gradescope import gradescope
from grader.classroom.course.roster import csv_rows
from grader.grading.submission.items import Bundle, Renamed, Unusable, ending, stem
from grader.model import Student

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.grading.submission.items import Item

_MOODLE = re.compile(
    r"(?P<name>.+?)(?:_(?P<id>\d+))?_(?P<type>assignsubmission|assignfeedback)_(?P<plugin>[a-z0-9]+)"
    r"(?:_(?P<file>.*))?",
    re.DOTALL,
)
_CANVAS = re.compile(
    r"(?P<who>(?P<name>[^\W_]+)(?P<late>_LATE)?_(?:question_)?(?P<id>\d{2,}))_(?P<upload>\d{4,})_(?P<file>.+)"
)
_CANVAS_ANONYMOUS = re.compile(
    r"(?P<who>(?P<name>anon)(?P<late>_LATE)?_(?P<id>[A-Za-z0-9]{5}))_(?P<upload>\d{4,})_(?P<file>.+)"
)
_CANVAS_TEXT = re.compile(
    r"(?P<name>[^\W_]+)(?P<late>_LATE)?_(?P<id>\d{2,}|(?<=anon_)[A-Za-z0-9]{5}|(?<=anon_LATE_)[A-Za-z0-9]{5})"
    r"(?:_question)?(?:_\d+)?_(?:text|link)\.html"
)
_UPLOAD_NUMBER = re.compile(r"(?P<base>.+)-(?P<number>\d{1,3})")
_BLACKBOARD = re.compile(
    r"(?P<front>.+?)_attempt_(?P<time>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)(?:_(?P<file>.+)|(?P<receipt>\.txt))"
)
_RECEIPT_NAME = re.compile(r"^Name: (?P<name>.+) \((?P<login>[^()\s]+)\)\s*$", re.MULTILINE)
_BRIGHTSPACE = re.compile(
    r"(?P<id>\d+)-\d+ - (?P<name>.+?) - (?P<time>[^-]*\b\d{4}\b[^-]*?)(?: - (?P<file>.+))?"
)
_SAKAI = re.compile(r"(?P<last>[^,()]+), (?P<first>[^()]+?) ?\((?P<login>[^()]+)\)")
_SAKAI_FILES = "Submission attachment(s)"
_ILIAS = re.compile(r"(?P<last>[^\W\d_][^_]*)_(?P<first>[^\W\d_][^_]*)_(?P<login>.+)_(?P<id>\d{3,})")
_ILIAS_TEAM = re.compile(r"Team[ _]\d+")
_CLASSROOM = re.compile(r"(?P<slug>.+)-submissions(?:-\d\d-\d\d-\d{4}.*)?")
_ARTEMIS = re.compile(r"(?P<key>[A-Z][A-Z0-9]+)-(?P<login>.+)")
_MOST_RECEIPT_BYTES = 2**20
_SEVERAL = 2


def moodle(level: Level) -> tuple[Entry, ...] | None:
    """Moodle's "download all submissions": with folders, flat, for anonymous marking, of teams."""
    matches = _matches(level, _MOODLE)
    if not matches:
        return None
    numbers = Counter(match["name"] for _, match in matches)
    one_word = len(numbers) == 1 and " " not in next(iter(numbers))
    anonymous = one_word and len({match["id"] for _, match in matches}) >= _SEVERAL
    entries = []
    for item, match in matches:
        reason = None
        if match["type"] == "assignfeedback":
            reason = Left.FEEDBACK
        elif match["plugin"] != "file":
            reason = Left.TEXT
        number = match["id"] or ""
        name = f"{match['name']}_{number}" if number else match["name"]
        person = Student(name="" if anonymous else match["name"], id=number)
        renamed = Renamed(item, match["file"]) if match["file"] and not item.is_folder else item
        entries.append(Entry(renamed, number or name, name, name, (person,), left=reason, file=item.name))
    return tuple(entries)


def canvas(level: Level) -> tuple[Entry, ...] | None:
    """Canvas' "download submissions": all files side by side, also where students are anonymous."""
    uploads = [
        (item, match)
        for item in level.items
        if not item.is_folder
        and (match := _CANVAS_ANONYMOUS.fullmatch(item.name) or _CANVAS.fullmatch(item.name))
    ]
    texts = [(item, match) for item, match in _matches(level, _CANVAS_TEXT) if not item.is_folder]
    if not uploads and not texts:
        return None
    newest: dict[tuple[str, str], tuple[int, int]] = {}
    for _, match in uploads:
        base, number = _numbered(match["file"])
        upload_key = (match["id"], base)
        newest[upload_key] = max(newest.get(upload_key, (-1, -1)), (number, int(match["upload"])))
    entries = []
    for item, match in uploads:
        base, number = _numbered(match["file"])
        counts = newest[match["id"], base] == (number, int(match["upload"]))
        entries.append(_of_canvas(item, match, match["file"], None if counts else Left.EARLIER))
        if counts and number and ending(base) in {".h", ".cuh", ".hpp", ".inl"}:
            # An `#include` names the header as it was called before Canvas counted it.
            entries.append(_of_canvas(item, match, base, None))
    uploaded = {item.name for item, _ in uploads}
    entries += [
        _of_canvas(item, match, item.name, Left.TEXT) for item, match in texts if item.name not in uploaded
    ]
    return tuple(entries)


def _of_canvas(item: Item, match: re.Match[str], file: str, reason: Left | None) -> Entry:
    anonymous = match["name"] == "anon"
    name = f"{match['name']}_{match['id']}"
    person = Student(name="" if anonymous else match["name"], id=match["id"])
    return Entry(
        Renamed(item, file),
        match["id"],
        name,
        name,
        (person,),
        late=bool(match["late"]),
        left=reason,
        file=item.name,
    )


def _numbered(file: str) -> tuple[str, int]:
    """The name without the number of the upload, and that: ``kernel-2.cu`` is the third of ``kernel.cu``."""
    match = _UPLOAD_NUMBER.fullmatch(stem(file))
    return (f"{match['base']}{ending(file)}", int(match["number"])) if match else (file, 0)


def blackboard(level: Level) -> tuple[Entry, ...] | None:
    """Blackboard's download of an assignment's column, with a receipt for each attempt.

    A receipt says the student's name and login. Without one the login is what follows the name of the
    assignment, which is what all names have in front.
    """
    matches = _matches(level, _BLACKBOARD)
    if not matches:
        return None
    people = {}
    for item, match in matches:
        if (
            match["receipt"]
            and (person := _from_receipt(item))
            and match["front"].endswith(f"_{person.login}")
        ):
            people[match["front"]] = person
    start = len(_common_start([match["front"] for _, match in matches]))
    times = _distinct([(match["front"], match["time"]) for _, match in matches])
    entries = []
    for item, match in matches:
        front = match["front"]
        person = people.get(front) or Student(login=front[start:] or front.rsplit("_", 1)[-1])
        renamed = item if match["receipt"] else Renamed(item, match["file"])
        entries.append(
            Entry(
                renamed,
                person.login,
                person.login,
                front,
                (person,),
                attempt=match["time"],
                order=(match["time"],),
                attempts=len(times[front]),
                time=f"{match['time'][:10]} {match['time'][11:].replace('-', ':')}",
                left=Left.RECEIPT if match["receipt"] else None,
                file=item.name,
            )
        )
    return tuple(entries)


def _from_receipt(item: Item) -> Student | None:
    try:
        text = item.read(_MOST_RECEIPT_BYTES, "a-receipt").decode("utf-8-sig", "replace")
    except Unusable:
        return None
    match = _RECEIPT_NAME.search(text.replace("\r\n", "\n"))
    return Student(name=match["name"], login=match["login"]) if match else None


def _common_start(names: list[str]) -> str:
    """Common start of all names, up to a ``_``; empty where there is but one."""
    first, last = min(names), max(names)
    same = next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), 0)
    return first[: first.rfind("_", 0, same) + 1]


def brightspace(level: Level) -> tuple[Entry, ...] | None:
    """Brightspace's (D2L's) download of a folder of assignments; each attempt is a folder of its own."""
    matches = _matches(level, _BRIGHTSPACE)
    if not matches:
        return None
    times = _distinct([(match["id"], match["time"]) for _, match in matches])
    return tuple(
        Entry(
            Renamed(item, match["file"]) if match["file"] else item,
            match["id"],
            f"{match['name']}_{match['id']}",
            match["name"],
            (Student(name=match["name"], id=match["id"]),),
            attempt=match["time"],
            order=(_moment(match["time"]),),
            attempts=len(times[match["id"]]),
            time=_moment(match["time"]).replace("T", " "),
            file=item.name,
        )
        for item, match in matches
    )


def _moment(time: str) -> str:
    """A time as Brightspace writes it, so that later ones sort later; nothing for one in another language."""
    for form in ("%b %d, %Y %I%M %p", "%d %b, %Y %I%M %p", "%b %d, %Y %H%M"):
        padded = re.sub(r"\b(\d{3})(?= [AP]M)", r"0\1", time)
        with suppress(ValueError):
            return datetime.strptime(padded, form).isoformat()  # noqa: DTZ007 - only compared with its like
    return ""


def sakai(level: Level) -> tuple[Entry, ...] | None:
    """Sakai's "download all": a folder each, in which only one folder is the student's."""
    matches = [(item, match) for item, match in _matches(level, _SAKAI) if item.is_folder]
    if not matches:
        return None
    entries = []
    for item, match in matches:
        parts = {part.name: part for part in _items(item)}
        files = parts.get(_SAKAI_FILES, item)
        person = Student(name=f"{match['first']} {match['last']}", login=match["login"])
        texts = any("submissionText" in name for name in parts)
        only_text = texts and not _items(files)
        reason = Left.TEXT if only_text else None
        name = match["login"]
        entries.append(Entry(files, name, name, item.name, (person,), left=reason, file=item.name))
    return tuple(entries)


def ilias(level: Level) -> tuple[Entry, ...] | None:
    """ILIAS' download of an exercise: each folder names a person, or a team of them."""
    folders = [item for item in level.items if item.is_folder]
    entries = []
    for item in folders:
        members = [item] if not _ILIAS_TEAM.fullmatch(item.name) else [i for i in _items(item) if i.is_folder]
        matches = [match for member in members if (match := _ILIAS.fullmatch(member.name))]
        if not members or len(matches) != len(members):
            return None
        people = tuple(
            Student(
                name=f"{match['first']} {match['last']}",
                id=match["id"],
                login=match["login"],
                group="" if members == [item] else item.name,
            )
            for match in matches
        )
        hand_in = item if members == [item] else Bundle(item.name, tuple(members))
        entries.append(Entry(hand_in, item.name, item.name, item.name, people, file=item.name))
    return tuple(entries) or None


def repositories(level: Level) -> tuple[Entry, ...] | None:
    """Repositories of one assignment: GitHub Classroom's, by its list or a common beginning, and Artemis'."""
    folders = [item for item in level.items if item.is_folder]
    pushed = pushed_repositories(level) if folders else {}
    classroom = _CLASSROOM.fullmatch(level.name)
    front = f"{classroom['slug']}-" if classroom else ""
    if not front and len(folders) >= _SEVERAL:
        keys = {match["key"] if (match := _ARTEMIS.fullmatch(item.name)) else "" for item in folders}
        front = f"{keys.pop()}-" if len(keys) == 1 else ""
    front = "" if front == "-" else front
    share_a_beginning = front and all(item.name.startswith(front) for item in folders)
    if not folders or not (share_a_beginning or all(item.name in pushed for item in folders)):
        return None
    return tuple(
        _of_repository(item, item.name.removeprefix(front), pushed.get(item.name), hub=bool(classroom))
        for item in folders
    )


def _of_repository(item: Item, login: str, pushed: Pushed | None, *, hub: bool) -> Entry:
    if pushed is not None:
        students, time = pushed.students, pushed.time
    else:
        students, time = (Student(github=login) if hub else Student(login=login),), ""
    return Entry(item, login, login, item.name, students, time=time, file=item.name)


LAYOUTS: dict[str, Callable[[Level], tuple[Entry, ...] | None]] = {
    "Moodle": moodle,
    "Gradescope": gradescope,
    "Blackboard": blackboard,
    "Brightspace": brightspace,
    "Canvas": canvas,
    "Sakai": sakai,
    "ILIAS": ilias,
    "repositories": repositories,
}
"""The first that recognises a folder of the download says whose its entries are."""


def _distinct(pairs: list[tuple[str, str]]) -> dict[str, set[str]]:
    """Values paired with each key."""
    values: dict[str, set[str]] = {}
    for key, value in pairs:
        values.setdefault(key, set()).add(value)
    return values


def _matches(level: Level, pattern: re.Pattern[str]) -> list[tuple[Item, re.Match[str]]]:
    return [(item, match) for item in level.items if (match := pattern.fullmatch(item.name))]


def _items(item: Item) -> list[Item]:
    """Items of a folder; empty where it cannot be read, and its student will hear of it."""
    try:
        return item.items()
    except Unusable:
        return []


_REPOSITORY, _LOGIN, _TIME = "student_repository_name", "github_username", "submission_timestamp"
_MOST_BYTES = 16 * 2**20
_LONGEST = 300


@frozen
class Pushed:
    """Entry of the list for a repository."""

    students: tuple[Student, ...] = ()
    time: str = ""


def pushed_repositories(level: Level) -> dict[str, Pushed]:
    """Entry of a list in the folder or beside it, by the repository's name; empty where there is none.

    Raises `UsageError` where it cannot be read as CSV.
    """
    for item in (*level.items, *level.beside):
        if item.is_folder or ending(item.name) != ".csv" or not item.is_file:
            continue
        content = item.read(_MOST_BYTES, "a list")
        if _REPOSITORY.encode() in content.split(b"\n", 1)[0]:
            return _listed(csv_rows(content, escaped(item.name, 60)))
    return {}


def _listed(rows: list[list[str]]) -> dict[str, Pushed]:
    columns = {heading.strip(): index for index, heading in enumerate(rows[0])}
    repositories: dict[str, Pushed] = {}
    for row in rows[1:]:
        values = {name: one_line(row[i], _LONGEST) for name, i in columns.items() if i < len(row)}
        name = values.get(_REPOSITORY, "").rpartition("/")[2]
        if not name:
            continue
        identifier = values.get("roster_identifier", "")
        student = Student(
            login="" if "@" in identifier else identifier,
            email=identifier if "@" in identifier else "",
            github=values.get(_LOGIN, ""),
            group=values.get("group_name", ""),
        )
        before = repositories.get(name, Pushed())
        time = max(before.time, values.get(_TIME, ""))
        repositories[name] = Pushed((*before.students, student), time)
    return repositories
