"""Headers of any usual ending, in folders below, and a folder that is one student's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.course.download import read_download
from grader.cli.setup import only_submission
from grader.grading.assignment import find_assignment, load_assignment
from grader.grading.submission import read_submission

if TYPE_CHECKING:
    from pathlib import Path


KERNEL = b"__global__ void k() {}\n"


def lay(folder: Path, files: dict[str, bytes]) -> None:
    """Write files, with the folders that they lie in."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_headers_of_usual_endings_come_along(tmp_path: Path) -> None:
    """C++ programmers call them so."""
    names = ["a.hpp", "b.hxx", "c.inl", "d.cuh", "e.H", "f.hh", "g.inc"]
    lay(tmp_path / "ann", {"k.cu": KERNEL, "main.cpp": b"", **dict.fromkeys(names, b"//")})
    (ann,) = read_download(tmp_path).submissions
    assert [name for name, _ in ann.headers] == names


def test_a_header_in_a_folder_below_comes_along_where_it_is_named(tmp_path: Path) -> None:
    """The source or a header names it; a file that is not named may be anything."""
    files = {
        "k.cu": b'#include "lib/tile.hpp"\n#  include <sizes.h>\n' + KERNEL,
        "lib/tile.hpp": b'#include "../other/deep/more.inl"\n',
        "include/sizes.h": b"//",
        "include/unused.h": b"\0",
        "other/deep/more.inl": b"//more",
        "a/b/c/d/sizes.h": b"too deep",
    }
    lay(tmp_path / "ann", files)
    (ann,) = read_download(tmp_path).submissions
    assert ann.problem is None
    assert {name: files[name] for name in ("include/sizes.h", "lib/tile.hpp", "other/deep/more.inl")} == dict(
        ann.headers
    )


def test_a_folder_may_be_what_one_student_hands_in(tmp_path: Path) -> None:
    """One source and its headers; what else lies there is left aside."""
    lay(tmp_path, {"tiled.cu": b'#include "t.h"\n', "t.h": b"//", "README.md": b"#", "Makefile": b"all:"})
    mine = read_submission(tmp_path)
    assert (mine.id, mine.file, mine.headers, mine.problem) == ("tiled", "tiled.cu", (("t.h", b"//"),), None)
    lay(tmp_path, {"second.cu": KERNEL})
    twice = read_submission(tmp_path)
    assert twice.problem is not None
    assert "2 .cu files" in twice.problem.message


def test_check_takes_the_folder_that_grade_takes_in_a_class(tmp_path: Path) -> None:
    """A clone with a README beside the source is one submission; a class stays refused."""
    assignment = load_assignment(find_assignment("tiled-matmul"), None)
    lay(tmp_path / "clone", {"tiled.cu": b'#include "t.h"\n', "t.h": b"//", "README.md": b"#"})
    lay(tmp_path / "class", {"ann.cu": KERNEL, "bob.cu": KERNEL})
    assert only_submission(tmp_path / "clone", assignment, "check").headers == (("t.h", b"//"),)
    with pytest.raises(UsageError, match="`check` takes one, `grade` takes a class"):
        only_submission(tmp_path / "class", assignment, "check")


def test_check_picks_no_file_of_a_folder_where_others_are_in_doubt(tmp_path: Path) -> None:
    """A student's own kernel with its header beside the untouched skeleton is not judged by the skeleton."""
    assignment = load_assignment(find_assignment("tiled-matmul"), None)
    lay(tmp_path, {"mine.cu": b'#include "mine.h"\n', "mine.h": b"//", "skeleton.cu": KERNEL})
    with pytest.raises(
        UsageError, match=r"2 \.cu files \(`mine\.cu`, `skeleton\.cu`\); expected exactly one"
    ):
        only_submission(tmp_path, assignment, "check")
