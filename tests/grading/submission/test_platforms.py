"""Downloads of learning platforms, as archives and unpacked: whose file is whose."""

from __future__ import annotations

import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest

from grader.classroom.course.download import read_download
from grader.grading.submission.archives import MAX_BYTES
from tests.grading.submission.packing import Raw, raw_zip, tarred, zipped

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from grader.model import Submission

KERNEL = b"__global__ void k() {}\n"
HEADER = b"#pragma once\n"
MOODLE = "Ada Lovelace_12345_assignsubmission_file"
GRACE = "Grace Hopper_54321_assignsubmission_file"
IN_ZIP = zipped({"homework/kernel.cu": KERNEL, "homework/tile.h": HEADER})

DOWNLOADS: dict[str, tuple[Mapping[str, bytes], tuple[str, str]]] = {
    "Moodle, a folder each": (
        {f"{MOODLE}_/kernel.cu": KERNEL, f"{MOODLE}_/tile.h": HEADER, f"{GRACE}_/all.zip": IN_ZIP},
        ("Ada_Lovelace_12345", "Grace_Hopper_54321"),
    ),
    "Moodle, folders of later versions": (
        {f"{MOODLE}/kernel.cu": KERNEL, f"{MOODLE}/tile.h": HEADER, f"{GRACE}/all.zip": IN_ZIP},
        ("Ada_Lovelace_12345", "Grace_Hopper_54321"),
    ),
    "Moodle, one folder": (
        {f"{MOODLE}_kernel.cu": KERNEL, f"{MOODLE}_tile.h": HEADER, f"{GRACE}_all.zip": IN_ZIP},
        ("Ada_Lovelace_12345", "Grace_Hopper_54321"),
    ),
    "Moodle, with texts": (
        {
            f"{MOODLE}_/kernel.cu": KERNEL,
            f"{MOODLE}_/tile.h": HEADER,
            "Ada Lovelace_12345_assignsubmission_onlinetext_/onlinetext.html": b"<p>hello</p>",
            f"{GRACE}_/all.zip": IN_ZIP,
        },
        ("Ada_Lovelace_12345", "Grace_Hopper_54321"),
    ),
    "Canvas": (
        {
            "lovelaceada_LATE_1234_567890_kernel.cu": KERNEL,
            "lovelaceada_LATE_1234_567891_tile.h": HEADER,
            "hoppergrace_4321_567892_all_of-1.zip": IN_ZIP,
        },
        ("hoppergrace_4321", "lovelaceada_1234"),
    ),
    "Gradescope": (
        {
            "assignment_77_export/submission_101/kernel.cu": KERNEL,
            "assignment_77_export/submission_101/tile.h": HEADER,
            "assignment_77_export/submission_102/all.zip": IN_ZIP,
            "assignment_77_export/submission_metadata.yml": b"submission_101: {}\n",
        },
        ("submission_101", "submission_102"),
    ),
    "folders of our own": (
        {"class/ada/kernel.cu": KERNEL, "class/ada/tile.h": HEADER, "class/grace.zip": IN_ZIP},
        ("ada", "grace"),
    ),
}


def unpacked(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The files on disk; where one folder holds all of them, that one."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    inner = list(folder.iterdir())
    return inner[0] if len(inner) == 1 else folder


@pytest.mark.parametrize("case", DOWNLOADS)
@pytest.mark.parametrize("kind", ["zip", "stored", "tar", "unpacked"])
def test_a_download_is_split_into_students(tmp_path: Path, case: str, kind: str) -> None:
    """The same submissions from the archive and from what it unpacks to; files under their own names."""
    files, ids = DOWNLOADS[case]
    path = tmp_path / "download.zip"
    if kind == "unpacked":
        path = unpacked(tmp_path / "download", files)
    elif kind == "tar":
        path = tmp_path / "download.tar"
        path.write_bytes(tarred(files))
    else:
        path.write_bytes(zipped(files, zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED))
    found = read_download(path).submissions
    assert tuple(one.id for one in found) == ids
    assert {(one.file, one.source, one.headers, one.problem) for one in found} == {
        ("kernel.cu", KERNEL, (("tile.h", HEADER),), None)
    }


def read_zip(folder: Path, archive: bytes) -> dict[str, Submission]:
    """The submissions of a class archive, by id."""
    (folder / "class.zip").write_bytes(archive)
    return {one.id: one for one in read_download(folder / "class.zip").submissions}


def test_files_of_a_class_need_no_platform(tmp_path: Path) -> None:
    """Names that only the students made stay as they are."""
    files = {"lab_1_2_ann.cu": KERNEL, "lab_1_3_bob.cu": KERNEL, "submission_7.cu": KERNEL}
    assert sorted(read_zip(tmp_path, zipped(files))) == ["lab_1_2_ann", "lab_1_3_bob", "submission_7"]


def test_one_students_archive_can_be_checked_as_it_is(tmp_path: Path) -> None:
    """One .cu file with headers beside it is no class."""
    (tmp_path / "mine.zip").write_bytes(IN_ZIP)
    (mine,) = read_download(tmp_path / "mine.zip").submissions
    assert (mine.id, mine.file, mine.headers) == ("mine", "kernel.cu", (("tile.h", HEADER),))


def test_two_files_of_one_student_are_a_problem_of_theirs(tmp_path: Path) -> None:
    """The grader does not guess which attempt was meant."""
    found = read_zip(
        tmp_path,
        zipped({"doe_12_3456_a.cu": KERNEL, "doe_12_3457_b.cu": KERNEL, "roe_13_3458_a.cu": KERNEL}),
    )
    assert found["roe_13"].problem is None
    assert found["doe_12"].problem
    assert found["doe_12"].problem.message == (
        "the submission holds 2 .cu files (`a.cu`, `b.cu`); expected exactly one"
    )


HOSTILE = {
    "upwards": Raw(b"eve/../../ann/kernel.cu", b"stolen"),
    "absolute": Raw(b"/eve/kernel.cu", b"stolen"),
    "control": Raw(b"eve/\x1b[31m.cu", b"stolen"),
    "twice": Raw(b"eve/kernel.cu", b"other"),
    "link": Raw(b"eve/kernel.cu", b"../ann/kernel.cu", attributes=0o120777 << 16),
    "encrypted": Raw(b"eve/kernel.cu", b"x", flags=1),
    "damaged": Raw(b"eve/kernel.cu", b"x", checksum=7),
    "too large": Raw(b"eve/kernel.cu", b"x", size=2**31),
    "bomb inside": Raw(b"eve/a.zip", zipped({"kernel.cu": bytes(40 * 2**20)})),
    "archive inside an archive": Raw(b"eve/a.zip", zipped({"b.zip": IN_ZIP})),
    "no archive inside": Raw(b"eve/a.zip", b"PK\5\6"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_one_student_handed_in_costs_no_other_anything(tmp_path: Path, case: str) -> None:
    """Whatever is wrong with one name or file in the download, its student has the problem, alone."""
    member = HOSTILE[case]
    first = Raw(b"eve/kernel.cu", KERNEL) if case == "twice" else Raw(b"eve/readme.txt", b"hello")
    found = read_zip(tmp_path, raw_zip(Raw(b"ann/kernel.cu", KERNEL), first, member, Raw(b"zoe.cu", KERNEL)))
    assert sorted(found) == ["ann", "eve", "zoe"]
    assert found["ann"].source == found["zoe"].source == KERNEL
    assert found["ann"].problem is found["zoe"].problem is None
    assert found["eve"].problem
    assert found["eve"].source == b""


def test_folders_of_which_one_id_would_be_made_are_asked_about(tmp_path: Path) -> None:
    """Names that differ only in what an id cannot hold, and in case where it does not count."""
    files = {
        "Ada Lovelace_12345/k.cu": b"1",
        "ADA_LOVELACE_12345.cu": b"2",
        "$/k.cu": b"3",
        "_/k.cu": b"4",
    }
    (tmp_path / "class.zip").write_bytes(zipped(files))
    download = read_download(tmp_path / "class.zip")
    assert not download.submissions
    assert [set(question.names) for question in download.questions] == [
        {"$", "_"},
        {"Ada Lovelace_12345", "ADA_LOVELACE_12345.cu"},
    ]


def test_a_large_class_is_read_student_by_student(tmp_path: Path) -> None:
    """The archives of a class are never all held at once: 30 of 8 MiB take no more than two."""
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        filler = bytes(range(256)) * 32 * 1024
        for number in range(30):
            inner = zipped({"kernel.cu": KERNEL, "data.bin": filler}, zipfile.ZIP_STORED)
            archive.writestr(f"student {number}/mine.zip", inner)
    assert (tmp_path / "class.zip").stat().st_size > 20 * MAX_BYTES
    del filler, inner
    tracemalloc.start()
    try:
        found = read_download(tmp_path / "class.zip").submissions
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [one.source for one in found] == [KERNEL] * 30
    assert peak < 3 * MAX_BYTES
