"""An assignment travels to a node that sees none of the staff's folders, and is the same there."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.classroom.batch.executor import BatchSetting
from grader.classroom.cluster.node import packed, unpacked
from grader.classroom.cluster.nodes import common_setting
from grader.grading.assignment import bundled_ids, find_assignment, load_assignment, reference_folder
from tests.classroom.cluster.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", bundled_ids())
def test_every_assignment_is_the_same_where_it_arrives(name: str) -> None:
    """Out of the parcel alone, with its reference beside it; the digest covers both."""
    path = find_assignment(name)
    assignment = load_assignment(path)
    parcel = packed(path, assignment)
    arrived, folder = unpacked(replace(parcel, path="/nowhere/at/all"))
    assert folder is not None
    assert arrived.digest == assignment.digest
    assert str(arrived.path).startswith(folder.name)
    if arrived.reference:
        assert str(reference_folder(arrived)).startswith(folder.name)
    folder.cleanup()


def test_a_folder_that_is_shared_is_used_as_it_is() -> None:
    """Nothing is written where the same assignment lies at the same path."""
    path = find_assignment("vector-add")
    assignment = load_assignment(path)
    arrived, folder = unpacked(packed(path, assignment))
    assert folder is None
    assert arrived.path == assignment.path


def test_a_folder_that_holds_another_version_is_not_used(tmp_path: Path) -> None:
    """The version that was sent counts, whatever lies there."""
    shutil.copytree(ROOT / "assignments/vector-add", tmp_path / "assignments/vector-add")
    shutil.copytree(ROOT / "reference/vector-add", tmp_path / "reference/vector-add")
    path = tmp_path / "assignments/vector-add"
    assignment = load_assignment(path)
    parcel = packed(path, assignment)
    with (path / "assignment.yaml").open("a") as file:
        file.write("# another version\n")
    arrived, folder = unpacked(parcel)
    assert folder is not None
    assert arrived.digest == assignment.digest
    folder.cleanup()


def test_an_assignment_that_arrives_damaged_is_our_error(tmp_path: Path) -> None:
    """A node that has something else grades nothing."""
    path = find_assignment("vector-add")
    parcel = packed(path, load_assignment(path))
    with pytest.raises(OurError, match="another one than was sent"):
        unpacked(replace(parcel, path=str(tmp_path), digest="0" * 64))


def test_of_two_kinds_with_as_much_room_chance_chooses_none() -> None:
    """A class is graded alike whichever node proves itself first."""
    older, newer = (BatchSetting("emulator", toolkit, "", "") for toolkit in ("13.0.41", "13.0.88"))
    assert common_setting(Counter({older: 4, newer: 4}), None) == newer
    assert common_setting(Counter({newer: 4, older: 4}), None) == newer
    assert common_setting(Counter({newer: 4, older: 5}), None) == older
    assert common_setting(Counter({newer: 4, older: 4}), older) == older
