"""Gradescope's metadata of a submission, and files that hold something else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grader.classroom.gradescope.run import MAX_BYTES, Metadata, read_metadata
from tests.classroom.gradescope.container_folder import GROUP, LATE, METADATA

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, content: object) -> Metadata:
    """The metadata in a file with this content."""
    path = tmp_path / "submission_metadata.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_metadata(path)


def test_a_group_with_earlier_submissions(tmp_path: Path) -> None:
    """All members, how often, the best score and that of the newest by time; a score may be a text."""
    metadata = read(tmp_path, GROUP)
    assert [student.email for student in metadata.students] == ["ada@example.edu", "grace@example.edu"]
    assert (metadata.earlier, metadata.best, metadata.last, metadata.late) == (2, 85.0, 60.0, False)
    assert metadata.remarks() == (
        "handed in 2026-11-02 10:30:00-07:00",
        "handed in for Ada Lovelace and Grace Hopper",
        "2 submissions before this one; so far the best score is 85, the last one 60",
    )
    hand_in = metadata.hand_in()
    assert (hand_in.name, hand_in.attempt, hand_in.attempts, hand_in.late) == ("123456", "3", 3, False)


def test_late_is_decided_by_the_time_of_submission_in_any_zone(tmp_path: Path) -> None:
    """Not by the clock: an autograder may be run again."""
    late = read(tmp_path, LATE)
    assert late.late is True
    assert "late: it was due 2026-11-02 23:00:00-07:00" in late.remarks()[0]
    assert late.data()["late"] is True
    last = LATE["assignment"] | {"late_due_date": "2026-11-02T23:15:00-07:00"}
    too_late = read(tmp_path, LATE | {"assignment": last})
    assert too_late.remarks()[0].endswith("; the last date for late work was 2026-11-02 23:15:00-07:00")


def test_a_students_own_due_date_counts(tmp_path: Path) -> None:
    """A student with an extension is not late; in a group no one's extension is the others'."""
    extended = {"name": "Ada", "assignment": {"due_date": "2026-11-09T23:00:00-07:00"}}
    assert read(tmp_path, LATE | {"users": [extended]}).late is False
    assert read(tmp_path, LATE | {"users": [extended, {"name": "Grace"}]}).late is True


HOSTILE: dict[str, object] = {
    "no JSON": b"\xff{",
    "too deep": b"[" * 100_000,
    "a list": [METADATA],
    "a huge number": b'{"id": ' + b"9" * 5000 + b"}",
    "other types": {
        "id": ["x"],
        "created_at": 5,
        "assignment": "x",
        "users": {"a": 1},
        "previous_submissions": 3,
    },
    "users of other types": {"users": [None, 5, "x", [], {}], "previous_submissions": [None, 5]},
    "times without a zone": {"created_at": "2026-11-02T10:30:00", "assignment": {"due_date": "2026-11-01"}},
    "scores that are none": {"previous_submissions": [{"score": "nan"}, {"score": "x"}, {"score": True}]},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_of_another_form_counts_as_unknown(name: str, tmp_path: Path) -> None:
    """No file stops a grade, and nothing is guessed."""
    metadata = read(tmp_path, HOSTILE[name])
    assert (metadata.late, metadata.students, metadata.best, metadata.last) == (None, (), None, None)


def test_missing_or_endless_metadata_counts_as_unknown(tmp_path: Path) -> None:
    """An empty record, without reading what is too long."""
    assert read_metadata(tmp_path / "none.json") == Metadata()
    with (tmp_path / "long.json").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert read_metadata(tmp_path / "long.json") == Metadata()


def test_nothing_in_a_name_acts(tmp_path: Path) -> None:
    """Escape sequences and line feeds are written out, and there is an end to names and to people."""
    users: list[dict[str, Any]] = [{"name": "\x1b[31mAda\nscore: 100\u202e" + "x" * 9999, "email": "a"}] * 60
    metadata = read(tmp_path, METADATA | {"users": users})
    assert all(line.isprintable() for line in metadata.remarks())
    assert len(json.dumps(metadata.data())) < 50_000
