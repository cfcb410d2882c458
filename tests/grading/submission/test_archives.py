"""Archives, honest and hostile: what they hold, what is refused, and that no other student is affected."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.base.errors import UsageError
from grader.classroom.course.download import read_download
from grader.grading.submission.archives import MAX_BYTES, MAX_UNPACKED, opened
from grader.grading.submission.items import Unusable
from grader.model import FindingKind, Submission
from tests.grading.submission.packing import Raw, deflated, raw_zip, tar_info, tar_of, tarred, zipped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KERNEL = b"__global__ void k() {}\n"
HEADER = b"#pragma once\n"
MINE = {"kernel.cu": KERNEL, "tile.h": HEADER}
DAMAGED = "the archive is damaged, or was not handed in as a whole; try to pack it again"
TOO_LARGE = "the archive holds more than 32 MiB once it is unpacked; expected source files"
DAMAGED_ZIP = f"in `eve.zip`: {DAMAGED}"


def handed_in(folder: Path, name: str, archive: bytes) -> Submission:
    """The submission of an archive, read beside two neighbours who must not suffer from it."""
    (folder / "class").mkdir()
    (folder / "class" / name).write_bytes(archive)
    (folder / "class" / "ann.cu").write_bytes(KERNEL)
    (folder / "class" / "zoe.zip").write_bytes(zipped(MINE))
    before = sorted(folder.rglob("*"))
    ann, eve, zoe = read_download(folder / "class").submissions
    assert (ann.id, ann.source, ann.problem) == ("ann", KERNEL, None)
    assert (zoe.id, zoe.source, zoe.headers, zoe.problem) == ("zoe", KERNEL, (("tile.h", HEADER),), None)
    assert sorted(folder.rglob("*")) == before, "nothing is unpacked to disk"
    return replace(eve, hand_in=None)


def problem(folder: Path, archive: bytes, name: str = "eve.zip") -> str:
    """The problem of an archive; empty where there is none."""
    eve = handed_in(folder, name, archive)
    assert eve.id == "eve"
    if eve.problem is None:
        return ""
    assert (eve.source, eve.headers, eve.problem.kind) == (b"", (), FindingKind.COMPILE)
    assert eve.problem.message.isprintable()
    return eve.problem.message


# --- honest archives ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("eve.zip", zipped(MINE)),
        ("eve.ZIP", zipped(MINE, zipfile.ZIP_STORED)),
        ("eve.tar", tarred(MINE)),
        ("eve.tar.gz", tarred(MINE, compressed=True)),
        ("eve.tgz", tarred(MINE, compressed=True)),
        ("eve.zip", zipped({f"homework/final/{name}": content for name, content in MINE.items()})),
        ("eve.tar", tarred({f"./homework/{name}": content for name, content in MINE.items()})),
        ("eve.zip", zipped({f"homework\\{name}": content for name, content in MINE.items()})),
        ("eve.zip", zipped({**MINE, "__MACOSX/._kernel.cu": b"\0", ".git/x.cu": b"\0", ".DS_Store": b""})),
        ("eve.zip", zipped({**MINE, "a.txt": b"?", "build/kernel.cu": b"\0", "table.bin": bytes(20 << 20)})),
        ("eve.zip", b"#!/bin/sh\nexit 1\n" + zipped(MINE)),
        ("eve.zip", raw_zip(*(Raw(name.encode(), content) for name, content in MINE.items()))),
    ],
    ids=["zip", "stored", "tar", "tar.gz", "tgz", "folders", "dot", "backslashes", "leavings", "others",
         "prefix", "raw"],
)  # fmt: skip
def test_an_archive_counts_as_the_folder_that_it_holds(tmp_path: Path, name: str, archive: bytes) -> None:
    """Source and headers are those that a folder would give, and so is the digest."""
    eve = handed_in(tmp_path, name, archive)
    (tmp_path / "folder" / "eve").mkdir(parents=True)
    for file, content in MINE.items():
        (tmp_path / "folder" / "eve" / file).write_bytes(content)
    (unpacked,) = read_download(tmp_path / "folder").submissions
    unpacked = replace(unpacked, hand_in=None)
    assert (eve.problem, eve.id) == (None, "eve")
    assert eve == unpacked


def test_an_archive_in_a_students_folder_is_opened(tmp_path: Path) -> None:
    """As learning platforms put it there; where there is a source it is passed over."""
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "all of it.zip").write_bytes(zipped(MINE))
    (tmp_path / "bob" / "other.cu").write_bytes(b"//")
    ann, bob = read_download(tmp_path).submissions
    assert (ann.file, ann.source, ann.headers) == ("kernel.cu", KERNEL, (("tile.h", HEADER),))
    assert (bob.file, bob.source, bob.headers) == ("other.cu", b"//", ())


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the archive is empty; expected one .cu file in it"),
        ({"a.txt": b"x"}, "the archive has no source file; expected one .cu file, and it holds `a.txt`"),
        (
            {"a.cu": b"x", "b.cu": b"y"},
            "the archive holds 2 .cu files (`a.cu`, `b.cu`); expected exactly one",
        ),
        ({"a.cu": b" \n"}, "`a.cu` is empty; expected the file with your kernel"),
        ({"a.cu": b"\x7fELF"}, "`a.cu` is a compiled program; expected the source text of your kernel"),
        ({"a.cu": b"/" * (2**20 + 1)}, "`a.cu` has 1,048,577 bytes; expected a source file of at most 1 MiB"),
        (
            {"in.zip": zipped(MINE)},
            "`in.zip` is an archive in an archive; expected .zip, .tar, .tar.gz or .tgz of source files",
        ),
        (
            {"a.cu": b"x", "T.h": b"", "t.H": b""},
            "there are two files called `T.h` and `t.H`; expected names that differ in more than case",
        ),
    ],
    ids=["empty", "none", "two", "blank", "program", "large", "nested", "case"],
)
def test_an_archive_without_one_source_is_refused_with_what_it_holds(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    """The messages are those of a folder, behind the archive's name."""
    assert problem(tmp_path, zipped(files)) == f"in `eve.zip`: {message}"


@pytest.mark.parametrize("name", ["eve.rar", "eve.7z", "eve.tar.xz"])
def test_other_kinds_of_archives_are_named(tmp_path: Path, name: str) -> None:
    """The message lists the kinds that are read."""
    (tmp_path / name).write_bytes(b"x")
    (eve,) = read_download(tmp_path).submissions
    assert eve.problem
    assert eve.problem.message == (
        f"`{name}` is an archive of a kind that is not read; "
        "expected .zip, .tar, .tar.gz or .tgz of source files"
    )


# --- hostile archives -----------------------------------------------------------------------------------

OUT = "which leads out of it; expected names without `..` and drives"
NAMES = {
    "parent": ("../kernel.cu", f"`../kernel.cu`, {OUT}"),
    "inner-parent": ("a/../../kernel.cu", f"`a/../../kernel.cu`, {OUT}"),
    "absolute": ("/etc/kernel.cu", f"`/etc/kernel.cu`, {OUT}"),
    "backslashes": ("..\\kernel.cu", f"`../kernel.cu`, {OUT}"),
    "share": ("\\\\host\\share\\kernel.cu", f"`//host/share/kernel.cu`, {OUT}"),
    "drive": ("C:\\kernel.cu", f"`C:/kernel.cu`, {OUT}"),
    "drive-relative": ("c:kernel.cu", f"`c:kernel.cu`, {OUT}"),
    "newline": ("a\nb.cu", "`a\\nb.cu`, a name with control characters; expected plain names"),
    "escape": ("\x1b[31m.cu", "`\\x1b[31m.cu`, a name with control characters; expected plain names"),
    "long": ("x" * 252 + ".cuh", f"`{'x' * 59}…`, a name of 256 characters; expected shorter ones"),
    "deep": (
        "d/" * 500 + "k.cu",
        f"`{('d/' * 30)[:59]}…`, a name of 1,004 characters; expected shorter ones",
    ),
}


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_name_that_no_packer_writes_spoils_the_archive(tmp_path: Path, case: str, kind: str) -> None:
    """Whatever else is in it: absolute, upwards, with a drive, control characters, or too long."""
    name, message = NAMES[case]
    files = {name: KERNEL, "fine.cu": KERNEL}
    archive = zipped(files) if kind == "zip" else tarred(files)
    assert problem(tmp_path, archive, f"eve.{kind}") == f"in `eve.{kind}`: the archive holds {message}"


def test_a_name_with_a_nul_spoils_the_archive(tmp_path: Path) -> None:
    """Some read `kernel.cu` there, and others all of it."""
    message = problem(tmp_path, raw_zip(Raw(b"kernel.cu\0.txt", KERNEL)))
    assert message == (
        "in `eve.zip`: the archive holds `kernel.cu\\x00.txt`, a name with control characters; "
        "expected plain names"
    )


def test_a_name_that_is_not_utf8_is_shown_harmlessly(tmp_path: Path) -> None:
    """Old packers write Latin-1; it is the student's file all the same."""
    archive = tar_of([(tar_info(os.fsdecode(b"caf\xe9.cu"), size=len(KERNEL)), KERNEL)])
    eve = handed_in(tmp_path, "eve.tar", archive)
    assert (eve.file, eve.source) == ("caf\\xe9.cu", KERNEL)


def test_a_name_that_claims_to_be_utf8_and_is_not_is_damage(tmp_path: Path) -> None:
    """The flag claims what the bytes do not hold."""
    assert problem(tmp_path, raw_zip(Raw(b"caf\xe9.cu", KERNEL, flags=0x800))) == DAMAGED_ZIP


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize(
    "names", [("kernel.cu", "kernel.cu"), ("kernel.cu", "./kernel.cu"), ("a", "a/kernel.cu")]
)
def test_two_files_of_one_name_spoil_the_archive(tmp_path: Path, names: tuple[str, str], kind: str) -> None:
    """The one that counts would depend on the program that unpacks it."""
    members = [(tar_info(name, size=len(KERNEL)), KERNEL) for name in names]
    raw = raw_zip(*(Raw(name.encode(), KERNEL) for name in names))
    message = problem(tmp_path, raw if kind == "zip" else tar_of(members), f"eve.{kind}")
    shown = names[1].removeprefix("./")
    assert message == f"in `eve.{kind}`: the archive holds `{shown}` twice; expected it once"


LINK = "is a link; expected the file itself"
DEVICE = "is a device or a pipe; expected a source file"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (tarfile.SYMTYPE, LINK),
        (tarfile.LNKTYPE, LINK),
        (tarfile.CHRTYPE, DEVICE),
        (tarfile.BLKTYPE, DEVICE),
        (tarfile.FIFOTYPE, DEVICE),
    ],
)
def test_what_is_no_file_in_a_tar_is_not_read(tmp_path: Path, kind: bytes, message: str) -> None:
    """Links lead nowhere, devices are nothing to read."""
    archive = tar_of([(tar_info("kernel.cu", kind, link="/etc/passwd"), b"")])
    assert problem(tmp_path, archive, "eve.tar") == f"in `eve.tar`: `kernel.cu` {message}"


@pytest.mark.parametrize(
    ("mode", "message"), [(stat.S_IFLNK, LINK), (stat.S_IFCHR, DEVICE), (stat.S_IFIFO, DEVICE)]
)
def test_what_is_no_file_in_a_zip_is_not_read(tmp_path: Path, mode: int, message: str) -> None:
    """By the mode that Unix packers note."""
    archive = raw_zip(Raw(b"kernel.cu", b"/etc/passwd", attributes=(mode | 0o777) << 16))
    assert problem(tmp_path, archive) == f"in `eve.zip`: `kernel.cu` {message}"


def test_a_link_that_is_not_needed_is_passed_over(tmp_path: Path) -> None:
    """It is in many an honest archive."""
    kernel = (tar_info("kernel.cu", size=len(KERNEL)), KERNEL)
    archive = tar_of([kernel, (tar_info("latest", tarfile.SYMTYPE, link="/etc"), b"")])
    assert problem(tmp_path, archive, "eve.tar") == ""


OVERLAP = "files in the archive overlap, as no packer writes them; expected an ordinary zip file"
ZIPS = {
    "encrypted": (
        raw_zip(Raw(b"kernel.cu", KERNEL, flags=1)),
        "in `eve.zip`: `kernel.cu` is encrypted; expected an archive without a password",
    ),
    "bzip2": (
        zipped(MINE, zipfile.ZIP_BZIP2),
        "in `eve.zip`: `kernel.cu` is compressed in an unusual way; expected an ordinary zip file",
    ),
    "lzma": (
        zipped(MINE, zipfile.ZIP_LZMA),
        "in `eve.zip`: `kernel.cu` is compressed in an unusual way; expected an ordinary zip file",
    ),
    "no zip": (b"hello", DAMAGED_ZIP),
    "nothing": (b"", DAMAGED_ZIP),
    "cut in its list": (zipped(MINE)[:-30], DAMAGED_ZIP),
    "cut in a file": (zipped(MINE)[:40], DAMAGED_ZIP),
    "wrong checksum": (raw_zip(Raw(b"kernel.cu", KERNEL, checksum=1)), DAMAGED_ZIP),
    "size too small": (raw_zip(Raw(b"kernel.cu", KERNEL, size=3)), DAMAGED_ZIP),
    "size too large": (raw_zip(Raw(b"kernel.cu", KERNEL, size=500)), DAMAGED_ZIP),
    "no deflate": (raw_zip(Raw(b"kernel.cu", KERNEL, method=8)), DAMAGED_ZIP),
    "other local name": (raw_zip(Raw(b"kernel.cu", KERNEL, local_name=b"passwd.cu")), DAMAGED_ZIP),
    "zip64 without numbers": (
        raw_zip(Raw(b"kernel.cu", KERNEL, size=0xFFFFFFFF, extra=struct.pack("<HH", 1, 0))),
        DAMAGED_ZIP,
    ),
    "zip64 of 2**63 bytes": (
        raw_zip(Raw(b"kernel.cu", KERNEL, size=0xFFFFFFFF, extra=struct.pack("<HHQ", 1, 8, 2**63))),
        f"in `eve.zip`: {TOO_LARGE}",
    ),
    "zip64 far away": (
        raw_zip(Raw(b"kernel.cu", KERNEL, offset=0xFFFFFFFF, extra=struct.pack("<HHQ", 1, 8, 2**62))),
        f"in `eve.zip`: {OVERLAP}",
    ),
    "overlapping": (
        raw_zip(*(Raw(f"{n}.h".encode(), bytes(99), packed=bytes(500)) for n in range(3)))[300:],
        f"in `eve.zip`: {OVERLAP}",
    ),
    "one content, many names": (
        raw_zip(Raw(b"kernel.cu", KERNEL), *(Raw(f"{n}.h".encode(), KERNEL, offset=0) for n in range(9))),
        f"in `eve.zip`: {OVERLAP}",
    ),
    "fewer members than it says": (raw_zip(Raw(b"kernel.cu", KERNEL), count=60_000), ""),
}


@pytest.mark.parametrize("case", ZIPS)
def test_a_zip_with_wrong_headers_is_refused_or_harmless(tmp_path: Path, case: str) -> None:
    """Damage, encryption, lies about sizes and places: a message each, and no exception."""
    archive, message = ZIPS[case]
    assert problem(tmp_path, archive) == message


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("eve.tar", b""),
        ("eve.tar", b"hello"),
        ("eve.tar", tarred(MINE)[:700]),
        ("eve.tar", tarred(MINE)[:1100]),
        ("eve.tar", tarred(MINE)[:1024] + b"x" * 9000),
        ("eve.tar.gz", tarred(MINE)),
        ("eve.tar.gz", tarred(MINE, compressed=True)[:-20]),
        ("eve.tar.gz", b"\x1f\x8b"),
        ("eve.tar", tar_of([(tar_info("a" * 20_000, size=1), b"x")])),
    ],
    ids=["nothing", "no tar", "cut in a file", "cut in a header", "noise", "not packed", "cut gzip",
         "gzip mark", "long header"],
)  # fmt: skip
def test_a_damaged_tar_is_reported_as_such(tmp_path: Path, name: str, archive: bytes) -> None:
    """Nothing is read up to where it breaks off."""
    assert problem(tmp_path, archive, name) == f"in `{name}`: {DAMAGED}"


# --- bombs ----------------------------------------------------------------------------------------------


def _zeros(name: str, size: int) -> bytes:
    """A tar file with one file of zeros, packed, without ever holding it."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as stream:
        stream.write(tar_info(name, size=size).tobuf(tarfile.GNU_FORMAT))
        for _ in range(size // 2**20):
            stream.write(bytes(2**20))
    return out.getvalue()


def _many(count: int) -> bytes:
    """A zip file of very many empty files."""
    return raw_zip(*(Raw(b"%06d.cu" % number) for number in range(count)))


def _fifield(count: int) -> bytes:
    """Files of which each claims to begin inside the one before: its data holds their headers."""
    zeros = bytes(900_000)
    packed = deflated(zeros)
    return raw_zip(
        *(Raw(b"%04d.cu" % n, zeros, packed=packed, method=8, offset=n * 37) for n in range(count))
    )


BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "zip of zeros": ("eve.zip", lambda: zipped({"kernel.cu": bytes(MAX_UNPACKED + 1)}), TOO_LARGE),
    "zip of zeros that says it is small": (
        "eve.zip",
        lambda: raw_zip(Raw(b"kernel.cu", KERNEL, packed=deflated(bytes(50 * 2**20)), method=8)),
        DAMAGED,
    ),
    "tar of zeros": ("eve.tgz", lambda: _zeros("kernel.cu", 400 * 2**20), TOO_LARGE),
    "100,000 files": (
        "eve.zip",
        lambda: _many(100_000),
        "the archive holds more than 10,000 files; expected one .cu file and its headers",
    ),
    "20,000 files": (
        "eve.zip",
        lambda: _many(20_000),
        "the archive holds more than 10,000 files; expected one .cu file and its headers",
    ),
    "20,000 files in a tar": (
        "eve.tgz",
        lambda: tarred({f"{number}.cu": b"" for number in range(20_000)}, compressed=True),
        "the archive holds more than 10,000 files; expected one .cu file and its headers",
    ),
    "overlapping files": ("eve.zip", lambda: _fifield(30), OVERLAP),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BOMBS)
def test_a_bomb_costs_little_memory(tmp_path: Path, case: str) -> None:
    """Its unpacked content is never held: at most the limit twice over, whatever it claims."""
    name, make, message = BOMBS[case]
    (tmp_path / name).write_bytes(make())
    assert (tmp_path / name).stat().st_size <= MAX_BYTES
    (tmp_path / "class").mkdir()
    (tmp_path / name).rename(tmp_path / "class" / name)
    tracemalloc.start()
    try:
        (eve,) = read_download(tmp_path / "class").submissions
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert eve.problem
    assert eve.problem.message == f"in `{name}`: {message}"
    assert peak < 2 * MAX_UNPACKED + MAX_BYTES


def test_an_archive_that_is_too_large_is_refused_by_its_size(tmp_path: Path) -> None:
    """It is not even opened."""
    (tmp_path / "ann.cu").write_bytes(KERNEL)
    with (tmp_path / "eve.zip").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    _, eve = read_download(tmp_path).submissions
    assert eve.problem
    assert eve.problem.message == "`eve.zip` has 10,485,761 bytes; expected an archive of at most 10 MiB"


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    kind=st.sampled_from(["zip", "tar", "tgz"]),
    flips=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8),
    cut=st.integers(0, 400),
)
def test_no_damage_is_an_exception(kind: str, flips: list[tuple[int, int]], cut: int) -> None:
    """Whichever bytes change: it is read, or it is unusable, and then the message is one printable line."""
    whole = {"zip": zipped(MINE), "tar": tarred(MINE), "tgz": tarred(MINE, compressed=True)}[kind]
    damaged = bytearray(whole)
    for place, value in flips:
        damaged[place % len(damaged)] = value
    try:
        for item in opened(f"eve.{kind}", bytes(damaged[: len(damaged) - cut])).items():
            if item.is_file:
                item.read(2**20, "a source file")
    except Unusable as unusable:
        assert str(unusable).isprintable()  # noqa: PT017 - either way is right


def test_a_class_archive_that_cannot_be_read_is_a_wrong_use(tmp_path: Path) -> None:
    """It is the staff's own file; the command reports what is wrong with it."""
    (tmp_path / "class.zip").write_bytes(b"PK")
    with pytest.raises(
        UsageError, match=r"cannot read submissions from .*class\.zip`: the archive is damaged"
    ):
        read_download(tmp_path / "class.zip")
