"""From what was handed in to submissions, whatever it is."""

from __future__ import annotations

import os
import socket
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.course.download import read_download
from grader.classroom.course.entries import Doubt, StaffQuestion
from grader.grading.submission import read_submission
from grader.grading.submission.folders import ANSWERS, PROGRAM, SOURCE, Wanted
from grader.grading.submission.items import MAX_BYTES
from grader.model import FindingKind
from grader.model.messages import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EIGHT = ", ".join(f"`{number}.cu`" for number in range(10, 18))
KERNEL = b"__global__ void k() {}\n"


def problem(path: Path, submission_id: str) -> str:
    """The problem of one submission of a folder; empty where there is none."""
    (found,) = (one for one in read_download(path).submissions if one.id == submission_id)
    if found.problem is None:
        return ""
    assert found.problem.kind is FindingKind.COMPILE
    assert found.source == b""
    return found.problem.message


def test_a_file_is_one_submission(tmp_path: Path) -> None:
    """Its id is the name without the ending, its digest that of its bytes."""
    (tmp_path / "alice.cu").write_bytes(KERNEL)
    (alice,) = read_download(tmp_path / "alice.cu").submissions
    assert (alice.id, alice.file, alice.source) == ("alice", "alice.cu", KERNEL)
    assert (alice.digest, alice.problem, alice.headers) == (sha256(KERNEL).hexdigest(), None, ())


def test_each_file_of_a_folder_is_a_submission(tmp_path: Path) -> None:
    """All endings that may hold a kernel are read, in whatever case, sorted by id."""
    for name in ("d.h", "b.CU", "a.cpp", "e.cuh", "c.c"):
        (tmp_path / name).write_bytes(KERNEL)
    found = read_download(tmp_path).submissions
    assert [(one.id, one.file) for one in found] == [
        ("a", "a.cpp"),
        ("b", "b.CU"),
        ("c", "c.c"),
        ("d", "d.h"),
        ("e", "e.cuh"),
    ]
    assert all(one.source == KERNEL and one.problem is None for one in found)


def test_each_folder_in_a_folder_is_a_submission_with_its_headers(tmp_path: Path) -> None:
    """The one .cu file is the source; headers beside it come along, other files do not."""
    for name, content in (("kernel.cu", KERNEL), ("tile.h", b"//h"), ("more.cuh", b""), ("notes.txt", b"x")):
        (tmp_path / "ann.lee").mkdir(exist_ok=True)
        (tmp_path / "ann.lee" / name).write_bytes(content)
    (tmp_path / "bob.cu").write_bytes(KERNEL)
    ann, bob = read_download(tmp_path).submissions
    assert (ann.id, ann.file, ann.source) == ("ann.lee", "kernel.cu", KERNEL)
    assert ann.headers == (("more.cuh", b""), ("tile.h", b"//h"))
    assert (bob.id, bob.headers) == ("bob", ())
    assert ann.digest != bob.digest == sha256(KERNEL).hexdigest()


@pytest.mark.parametrize(
    ("names", "source"),
    [
        (["main.cpp", "kernel.cu", "util.cuh"], "kernel.cu"),
        (["KERNEL.CU", "main.c"], "KERNEL.CU"),
        (["kernel.cpp", "util.h"], "kernel.cpp"),
        (["kernel.c"], "kernel.c"),
        (["kernel.cuh", "readme.md"], "kernel.cuh"),
        (["kernel.h", "readme.md"], "kernel.h"),
    ],
)
def test_a_folder_has_one_source(tmp_path: Path, names: list[str], source: str) -> None:
    """The one .cu file, else the one .c, .cpp or .cuh file, else the one .h file."""
    (tmp_path / "ann").mkdir()
    for name in names:
        (tmp_path / "ann" / name).write_bytes(KERNEL)
    (found,) = read_download(tmp_path).submissions
    assert (found.file, found.problem) == (source, None)


def test_folders_that_hold_only_a_folder_are_opened(tmp_path: Path) -> None:
    """Archives often unpack into a folder of their own."""
    inner = tmp_path / "ann" / "homework" / "final"
    inner.mkdir(parents=True)
    (inner / "kernel.cu").write_bytes(KERNEL)
    (inner / "tile.h").write_bytes(b"//")
    (tmp_path / "ann" / "__MACOSX").mkdir()
    (found,) = read_download(tmp_path).submissions
    assert (found.file, found.source, found.headers) == ("kernel.cu", KERNEL, (("tile.h", b"//"),))


def test_what_operating_systems_leave_behind_is_no_submission(tmp_path: Path) -> None:
    """Hidden files, thumbnails and the like are passed over, at the top and in a student's folder."""
    (tmp_path / "ann").mkdir()
    for folder in (tmp_path, tmp_path / "ann"):
        (folder / "__MACOSX").mkdir()
        for name in (".DS_Store", "._kernel.cu", "Thumbs.db", "desktop.ini", ".kernel.cu.swp"):
            (folder / name).write_bytes(b"\0")
    (tmp_path / "ann" / "kernel.cu").write_bytes(KERNEL)
    (found,) = read_download(tmp_path).submissions
    assert (found.id, found.source, found.problem) == ("ann", KERNEL, None)


@pytest.mark.parametrize("wanted", [SOURCE, PROGRAM, ANSWERS])
def test_every_name_of_what_is_wanted_has_a_text(wanted: Wanted) -> None:
    """A name that is none would leave a sentence without its end."""
    names = {wanted.one, wanted.file, wanted.kind, wanted.missing, wanted.text, wanted.group}
    assert names <= set(TABLES["clauses"])


def test_of_a_program_its_own_file_is_asked_for(tmp_path: Path) -> None:
    """Not that of a kernel."""
    (tmp_path / "a.cu").write_bytes(b"")
    problem = read_submission(tmp_path / "a.cu", PROGRAM).problem
    assert problem is not None
    assert problem.message == "`a.cu` is empty; expected the file with your program"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "`a.cu` is empty; expected the file with your kernel"),
        (b" \r\n\t\n", "`a.cu` is empty; expected the file with your kernel"),
        (b"\xef\xbb\xbf", "`a.cu` is empty; expected the file with your kernel"),
        (b"int\0x", "`a.cu` is binary (it holds NUL bytes); expected the source text of your kernel"),
        (b"\xff\xfe\0\0", "`a.cu` is binary (it holds NUL bytes); expected the source text of your kernel"),
        (b"\xff\xfe\0\xd8", "`a.cu` is binary (it holds NUL bytes); expected the source text of your kernel"),
        (b"\x7fELF\2", "`a.cu` is a compiled program; expected the source text of your kernel"),
        (b"PK\3\4..", "`a.cu` is a zip archive; expected the source text of your kernel"),
        (
            b"{\\rtf1\\ansi\\ansicpg1252\\cocoartf2761\n",
            "`a.cu` is rich text, as TextEdit and WordPad save it; expected the source text of your kernel",
        ),
        (b"<!DOCTYPE html>\n<html>", "`a.cu` is a web page; expected the source text of your kernel"),
        (b"%PDF-1.7", "`a.cu` is a PDF document; expected the source text of your kernel"),
        (b"/" * (MAX_BYTES + 1), "`a.cu` has 1,048,577 bytes; expected a source file of at most 1 MiB"),
    ],
)
def test_content_that_is_no_source_has_its_own_message(tmp_path: Path, content: bytes, message: str) -> None:
    """It keeps no other submission from being read."""
    (tmp_path / "a.cu").write_bytes(content)
    (tmp_path / "b.cu").write_bytes(KERNEL)
    assert problem(tmp_path, "a") == message
    assert problem(tmp_path, "b") == ""


@pytest.mark.parametrize(
    "content",
    [b"// \xe9\xff\n", "// ✓".encode("utf-16"), b"\xef\xbb\xbf//", b"//\r\n", b"/" * MAX_BYTES],
)
def test_odd_text_is_a_source_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    """Latin-1, UTF-16, byte order marks and CRLF are text; bytes are never changed."""
    (tmp_path / "a.cu").write_bytes(content)
    (found,) = read_download(tmp_path).submissions
    assert (found.source, found.problem) == (content, None)


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    """Its size is taken from the file system."""
    with (tmp_path / "a.cu").open("wb") as file:
        file.truncate(50 * 2**20)
    assert problem(tmp_path, "a") == "`a.cu` has 52,428,800 bytes; expected a source file of at most 1 MiB"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(path.parent, os.O_RDONLY)  # the address must be short, whatever the folder
        listener.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def _folder_link(path: Path) -> None:
    path.symlink_to("/etc")


def _file_link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _neighbour_link(path: Path) -> None:
    path.symlink_to("b.cu")


def _dangling_link(path: Path) -> None:
    path.symlink_to("nowhere.cu")


def _circular_link(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_pipe, "`a.cu` is a named pipe; expected a source file"),
        (_socket, "`a.cu` is a socket; expected a source file"),
        (_folder_link, "`a.cu` is a link that leads out of the submission; expected the file itself"),
        (_file_link, "`a.cu` is a link that leads out of the submission; expected the file itself"),
        (_neighbour_link, "`a.cu` is a link that leads out of the submission; expected the file itself"),
        (_dangling_link, "`a.cu` is a link that leads out of the submission; expected the file itself"),
    ],
)
def test_what_is_no_regular_file_is_neither_followed_nor_waited_for(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    """Pipes, sockets and links, also to another student's file, get a message each."""
    (tmp_path / "b.cu").write_bytes(KERNEL)
    make(tmp_path / "a.cu")
    assert problem(tmp_path, "a") == message
    assert problem(tmp_path, "b") == ""


def test_a_circular_link_is_a_problem_of_its_own_submission(tmp_path: Path) -> None:
    """Following it ends nothing but itself."""
    (tmp_path / "ann").mkdir()
    _circular_link(tmp_path / "ann" / "kernel.cu")
    assert problem(tmp_path, "ann").startswith("`kernel.cu` ")


@pytest.mark.parametrize("target", ["../bob/kernel.cu", "/etc/passwd", "../../elsewhere.cu"])
def test_a_link_out_of_a_students_folder_is_refused(tmp_path: Path, target: str) -> None:
    """No student hands in the file of another, nor one of ours."""
    for name in ("ann", "bob"):
        (tmp_path / "class" / name).mkdir(parents=True)
    (tmp_path / "elsewhere.cu").write_bytes(KERNEL)
    (tmp_path / "class" / "bob" / "kernel.cu").write_bytes(KERNEL)
    (tmp_path / "class" / "ann" / "kernel.cu").symlink_to(target)
    message = "`kernel.cu` is a link that leads out of the submission; expected the file itself"
    assert problem(tmp_path / "class", "ann") == message
    assert problem(tmp_path / "class", "bob") == ""


def test_a_link_within_a_students_folder_is_followed(tmp_path: Path) -> None:
    """It is their own file, under another name."""
    (tmp_path / "ann" / "src").mkdir(parents=True)
    (tmp_path / "ann" / "src" / "v2.txt").write_bytes(KERNEL)
    (tmp_path / "ann" / "kernel.cu").symlink_to("src/v2.txt")
    (found,) = read_download(tmp_path).submissions
    assert (found.file, found.source) == ("kernel.cu", KERNEL)


def test_a_header_that_leads_out_is_refused(tmp_path: Path) -> None:
    """Headers are read with the same care as sources."""
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "kernel.cu").write_bytes(KERNEL)
    (tmp_path / "ann" / "secret.h").symlink_to("/etc/passwd")
    message = "`secret.h` is a link that leads out of the submission; expected the file itself"
    assert problem(tmp_path, "ann") == message


def test_headers_are_limited_together(tmp_path: Path) -> None:
    """Many large headers are no way around the limit."""
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "kernel.cu").write_bytes(KERNEL)
    for number in range(3):
        (tmp_path / "ann" / f"{number}.h").write_bytes(b"/" * (MAX_BYTES // 2))
    assert problem(tmp_path, "ann") == "the headers hold more than 1 MiB together; expected less"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "the folder is empty; expected one .cu file in it"),
        ([".hidden"], "the folder is empty; expected one .cu file in it"),
        (
            ["report.pdf", "a.py"],
            "the folder has no source file; expected one .cu file, and it holds `a.py`, `report.pdf`",
        ),
        (["b.cu", "a.cu"], "the folder holds 2 .cu files (`a.cu`, `b.cu`); expected exactly one"),
        (
            ["b.cpp", "a.c"],
            "the folder holds 2 .c, .cpp and .cuh files (`a.c`, `b.cpp`); expected exactly one",
        ),
        (
            [f"{number}.cu" for number in range(10, 40)],
            f"the folder holds 30 .cu files ({EIGHT}, …); expected exactly one",
        ),
        (
            [f"{number}.txt" for number in range(1001)],
            "the folder holds 1001 files; expected one .cu file and its headers",
        ),
    ],
)
def test_a_folder_without_one_source_is_refused_with_what_it_holds(
    tmp_path: Path, names: list[str], message: str
) -> None:
    """Empty, none and several each have their own message."""
    (tmp_path / "ann").mkdir()
    for name in names:
        (tmp_path / "ann" / name).write_bytes(KERNEL)
    assert problem(tmp_path, "ann") == message


def test_only_folders_in_a_students_folder_are_reported(tmp_path: Path) -> None:
    """The grader does not guess among several folders."""
    for name in ("one", "two"):
        (tmp_path / "ann" / name).mkdir(parents=True)
    message = "the folder has no source file; expected one .cu file, and it holds only folders"
    assert problem(tmp_path, "ann") == message


def test_a_file_that_is_no_source_is_not_passed_over(tmp_path: Path) -> None:
    """In a class it is a question to staff; graded by itself, it is refused as no source file."""
    (tmp_path / "ann.docx").write_bytes(b"x")
    (tmp_path / "bob.cu").write_bytes(KERNEL)
    download = read_download(tmp_path)
    assert [one.id for one in download.submissions] == ["bob"]
    assert download.questions == (StaffQuestion(Doubt.STRANGE, ("ann.docx",)),)
    (ann,) = read_download(tmp_path / "ann.docx").submissions
    assert ann.problem
    assert ann.problem.message == (
        "`ann.docx` is not a source file; expected the ending .cu, .c, .cpp, .cuh or .h"
    )


def test_files_that_may_not_be_read_are_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions of a file or of a folder stop no other submission."""
    (tmp_path / "bob").mkdir()
    for name in ("ann.cu", "eve.cu", "bob/kernel.cu"):
        (tmp_path / name).write_bytes(KERNEL)
    real_open, real_scan = os.open, os.scandir

    def refusing_open(path: Path, flags: int) -> int:
        if path.name == "ann.cu":
            raise PermissionError(13, "Permission denied")
        return real_open(path, flags)

    def refusing_scan(path: Path) -> object:
        if str(path).endswith("/bob"):  # a string from Python 3.13 on
            raise PermissionError(13, "Permission denied")
        return real_scan(path)

    monkeypatch.setattr(os, "open", refusing_open)
    monkeypatch.setattr(os, "scandir", refusing_scan)
    assert problem(tmp_path, "ann") == "`ann.cu` cannot be read: permission denied; check its permissions"
    assert problem(tmp_path, "bob") == "the folder cannot be read: permission denied; check its permissions"
    assert problem(tmp_path, "eve") == ""


def test_a_pipe_put_in_place_of_a_file_is_noticed_once_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opened file is checked, not the one that was looked at before; and opening does not wait."""
    (tmp_path / "a.cu").write_bytes(KERNEL)
    os.mkfifo(tmp_path / ".pipe")
    real_open = os.open
    monkeypatch.setattr(os, "open", lambda _path, flags: real_open(tmp_path / ".pipe", flags))
    assert problem(tmp_path, "a") == "`a.cu` is a named pipe; expected a source file"


@pytest.mark.parametrize("name", ["nothing-here", "x" * 5000, "\0", "not-text-\udcff"])
def test_a_path_without_anything_is_a_wrong_use(tmp_path: Path, name: str) -> None:
    """The command ends with what was wrong with the path."""
    with pytest.raises(UsageError, match="cannot read submissions from") as caught:
        read_download(tmp_path / name)
    assert str(caught.value).isprintable()


def test_the_message_about_a_missing_path_names_what_is_there(tmp_path: Path) -> None:
    """A name that is much like it; or that the folder is empty, as where a container was given another."""
    with pytest.raises(UsageError, match=r"no such file or directory; its folder .* is empty$"):
        read_download(tmp_path / "mine.cu")
    (tmp_path / "mine.cu").write_bytes(KERNEL)
    with pytest.raises(UsageError, match=r"no such file or directory; did you mean `mine\.cu`\?$"):
        read_download(tmp_path / "Mine.cu")
    with pytest.raises(UsageError, match=r"no such file or directory$"):
        read_download(tmp_path / "homework")


def test_a_folder_without_anything_is_a_wrong_use(tmp_path: Path) -> None:
    """Files that no student handed in do not count."""
    (tmp_path / ".DS_Store").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"there is nothing in .*; expected .cu files, or a folder for each"):
        read_download(tmp_path)


def test_names_that_are_no_text_are_shown_harmlessly(tmp_path: Path) -> None:
    """Bytes of a name that are not UTF-8, and escapes for terminals, appear as their numbers."""
    for name in (b"caf\xe9.cu", b"red\x1b[31m.cu", b"two\nlines.cu"):
        (tmp_path / os.fsdecode(name)).write_bytes(KERNEL)
    found = read_download(tmp_path).submissions
    assert [(one.id, one.file) for one in found] == [
        ("caf_", "caf\\xe9.cu"),
        ("red__31m", "red\\x1b[31m.cu"),
        ("two_lines", "two\\nlines.cu"),
    ]


def test_problems_show_names_harmlessly(tmp_path: Path) -> None:
    """A message is one printable line, whatever the file is called."""
    (tmp_path / os.fsdecode(b"a\xff\x1b]0;x\x07.cu")).write_bytes(b"")
    (found,) = read_download(tmp_path).submissions
    assert found.problem
    assert found.problem.message.startswith("`a\\xff\\x1b]0;x\\x07.cu` is empty")
    assert found.problem.file.isprintable()


ALIKE = {
    "a letter of another script": ("A\u0501a.cu", "ada.cu"),
    "a letter of another script, in a folder": ("\u0430da/", "ada.cu"),
    "full-width letters": ("\uff41da.cu", "ada.cu"),
    "one id": ("a b.cu", "a_b.cu"),
    "one id but for capitals": ("a$b.cu", "A_B.cu"),
    "one id for long names": ("x" * 80 + "1.cu", "x" * 80 + "2.cu"),
}


@pytest.mark.parametrize("names", ALIKE.values(), ids=ALIKE)
def test_names_that_look_alike_or_make_one_id_are_asked_about(names: tuple[str, str], tmp_path: Path) -> None:
    """Neither is graded as the other; what differs is said, and the rest of the class is read."""
    for name in (*names, "bob.cu"):
        path = tmp_path / name.strip("/") / ("k.cu" if name.endswith("/") else "")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(KERNEL)
    download = read_download(tmp_path)
    (question,) = download.questions
    assert question.doubt is Doubt.LOOK_ALIKE
    assert set(question.names) == {name.strip("/") for name in names}
    assert question.detail
    assert [one.id for one in download.submissions] == ["bob"]


def test_the_digest_covers_headers_and_what_is_wrong(tmp_path: Path) -> None:
    """A second hand-in that differs anywhere has another digest."""
    (tmp_path / "ann").mkdir()
    digests = []
    for name, content in (("kernel.cu", b"//"), ("a.h", b"1"), ("a.h", b"2"), ("b.h", b""), ("b.cu", b"//")):
        (tmp_path / "ann" / name).write_bytes(content)
        digests.append(read_download(tmp_path).submissions[0].digest)
    assert len(set(digests)) == 5


def test_a_students_folder_that_begins_with_a_dot_is_graded(tmp_path: Path) -> None:
    """Folders of tools are not, nor what holds no source."""
    for folder in ("..ada", ".git", ".empty", "bob"):
        (tmp_path / folder).mkdir()
    for path in ("..ada/v.cu", ".git/v.cu", "bob/v.cu"):
        (tmp_path / path).write_bytes(KERNEL)
    (tmp_path / "._v.cu").write_bytes(KERNEL)
    assert [one.id for one in read_download(tmp_path).submissions] == ["ada", "bob"]
