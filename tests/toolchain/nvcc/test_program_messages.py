"""Messages of linkers, assemblers and object files, from texts and bytes alone."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.base.errors import ToolMissing
from grader.model import FindingCode
from grader.toolchain.nvcc import diagnostics, driver
from grader.toolchain.nvcc.diagnostics import Message
from grader.toolchain.nvcc.driver import undefined_names
from grader.toolchain.nvcc.source import EARLIER_CUDA, SOURCE_NAME

LD = "/usr/bin/ld: "
MAIN = f"{LD}/usr/lib/Scrt1.o: in function `_start':\n(.text+0x17): undefined reference to `main'\n"


def test_a_name_that_is_missing_twice_is_reported_for_each_line() -> None:
    """With the file that the linker names, whatever folder it was in."""
    log = (
        f"{LD}x.o: in function `main':\n/job/{SOURCE_NAME}:7: undefined reference to `half<double>(double)'\n"
        f"{LD}/job/1/{SOURCE_NAME}:8: undefined reference to `half<double>(double)'\n"
        f"{LD}/job/1/mine/parts.h:2: undefined reference to `area'\n"
        "collect2: error: ld returned 1 exit status\n"
    )
    messages = driver.linker_messages(log, ("mine/parts.h",))
    assert [(m.file, m.line) for m in messages] == [(SOURCE_NAME, 7), (SOURCE_NAME, 8), ("mine/parts.h", 2)]
    assert all(message.error for message in messages)


def test_a_linker_that_names_a_place_in_the_section_too_names_the_line() -> None:
    """GNU ld 2.42, as Ubuntu 24.04 has it, writes both."""
    log = (
        f"{LD}x.o: in function `main':\n"
        f"/job/{SOURCE_NAME}:3:(.text+0x6b): undefined reference to `area(int)'\n"
        "collect2: error: ld returned 1 exit status\n"
    )
    assert [(m.file, m.line) for m in driver.linker_messages(log, ())] == [(SOURCE_NAME, 3)]


def test_a_library_that_is_missing_is_reported_once() -> None:
    """One message covers all that is used of it; another library is reported, too."""
    log = "".join(
        f"{LD}/job/{SOURCE_NAME}:{line}: undefined reference to `{name}'\n"
        for line, name in enumerate(("cublasCreate_v2", "cublasSgemm_v2", "cv::imread(int)", "f(int)"), 7)
    )
    messages = driver.linker_messages(log, ())
    assert [message.line for message in messages] == [7, 9, 10]
    assert "a function of cuBLAS, which programs are not linked with here" in messages[0].text
    assert "OpenCV" in messages[1].text


@pytest.mark.parametrize(
    ("header", "library"),
    [("opencv2/opencv.hpp", "OpenCV"), ("cublas_v2.h", "cuBLAS"), ("boost/any.hpp", "Boost")],
)
def test_a_missing_header_of_a_library_names_the_library(header: str, library: str) -> None:
    """Rather than the headers of the assignment, which are no help there."""
    files = diagnostics.Files("x.cu", 3, ("npy.h",), ())
    message = Message(True, f"{header}: No such file or directory", SOURCE_NAME, 1)
    (finding,) = diagnostics.errors((message,), files)
    assert finding.message == (
        f"the header `{header}` was not found; it belongs to {library}, which is not installed here"
    )


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("windows.h", "it belongs to Windows, and programs run on Linux here: remove what uses it"),
        (r"thrust\sort.h", "write `thrust/sort.h`, with slashes, which every system understands"),
    ],
)
def test_what_only_windows_understands_is_reported_as_such(header: str, hint: str) -> None:
    """Rather than to hand such a header in."""
    message = Message(True, f"{header}: No such file or directory", SOURCE_NAME, 1)
    (finding,) = diagnostics.errors((message,), diagnostics.Files("x.cu", 3))
    assert finding.message == f"the header `{header}` was not found; {hint}"


def test_the_message_shows_how_to_write_a_location_that_cuda_13_wants() -> None:
    """Books and tutorials give a prefetch the number of a device."""
    text = 'no suitable constructor exists to convert from "int" to "cudaMemLocation"'
    (finding,) = diagnostics.errors((Message(True, text, SOURCE_NAME, 1),), diagnostics.Files("x.cu", 3))
    assert "changed by CUDA 13: write `{cudaMemLocationTypeDevice, device}`" in finding.message


def test_a_header_of_ours_is_not_among_those_that_are_there() -> None:
    """The student did not ask for the one that programs for an earlier CUDA begin with."""
    message = Message(True, "mine.h: No such file or directory", SOURCE_NAME, 1)
    files = diagnostics.Files("x.cu", 3, ("npy.h", EARLIER_CUDA))
    assert diagnostics.errors((message,), files)[0].message.endswith("the headers that are there: `npy.h`")


def test_the_message_about_a_texture_reference_names_texture_objects() -> None:
    """Tutorials for CUDA before version 12 declare `texture<float, 2>`."""
    message = Message(True, "texture is not a template", SOURCE_NAME, 1)
    (finding,) = diagnostics.errors((message,), diagnostics.Files("x.cu", 3))
    assert "removed from CUDA by version 13: use `cudaTextureObject_t`" in finding.message


def test_no_main_is_one_message_without_a_line() -> None:
    """It is the start-up code that asks for it."""
    (message,) = driver.linker_messages(MAIN, ())
    assert message.text == "this file has no `main` function, and a program begins there"
    assert message.problem is not None
    assert (message.problem.code, message.file, message.line) == (FindingCode.NO_MAIN, "", None)


def test_a_name_that_is_defined_twice_is_reported() -> None:
    """The message names the student's definition; the other place is a library's."""
    log = f"{LD}{SOURCE_NAME}:2: multiple definition of `_start'; Scrt1.o: first defined here\n"
    (message,) = driver.linker_messages(log, ())
    assert (message.file, message.line) == (SOURCE_NAME, 2)
    assert message.text.startswith("`_start` is defined here and once more elsewhere")


def test_other_messages_of_the_linker_are_passed_on_in_a_line() -> None:
    """An empty output is reported, too."""
    (message,) = driver.linker_messages(f"{LD}final link failed: bad value\n", ())
    assert message.text == "the linker refuses this program: final link failed: bad value"
    (silent,) = driver.linker_messages("", ())
    assert silent.text.endswith("does not say why")


def test_a_library_that_is_not_installed_is_our_fault() -> None:
    """But a student's name that sounds like it is not."""
    with pytest.raises(ToolMissing, match="-lcudart_static is missing"):
        driver.linker_messages(f"{LD}cannot find -lcudart_static: No such file or directory\n", ())
    (message,) = driver.linker_messages(
        f"{SOURCE_NAME}:1: undefined reference to `cannot find -lcudart_static'\n", ()
    )
    assert message.line == 1


def test_only_the_lines_of_the_students_file_come_from_the_assembler() -> None:
    """Each once; where there are none, one message for the file; and none where it reported nothing."""
    quoted = "/etc/passwd: Assembler messages:\n/etc/passwd:13: Error: no such instruction: `mailing list'\n"
    own = f"{SOURCE_NAME}:5: Error: no such instruction: `x'\n{SOURCE_NAME}:5: Error: junk at end of line\n"
    refused = "the assembler refuses what an `asm` statement of this file contains"
    for log, place in ((quoted, ("", None)), (quoted + own, (SOURCE_NAME, 5))):
        (message,) = driver.assembler_messages(log)
        assert (message.text, message.file, message.line) == (refused, *place)
    assert driver.assembler_messages(f'{SOURCE_NAME}(5): error: identifier "x" is undefined\n') == ()


def test_lists_of_dependencies_are_read_without_temporary_files() -> None:
    """As GCC writes them, for several targets, with blanks and dollars in names."""
    noted = (
        "tmpxft_00003752_00000000-2.o: /usr/include/stdc-predef.h\n"
        "student_source.o: /usr/include/stdc-predef.h \\\n my\\ file.h a$$b.h\n"
        "student_source.o: x.h\n"
        "o.o: tmpxft_00003752_00000000-6_student_source.cudafe1.cpp \\\n /tmp/g/ccdlxkje.s /etc/passwd\n"
    )
    assert driver.files_read((noted, "")) == (
        "/usr/include/stdc-predef.h",
        "my file.h",
        "a$b.h",
        "x.h",
        "/etc/passwd",
    )


@pytest.mark.parametrize(
    ("rules", "log", "done"),
    [
        (2, "x.cu:1:2: error: #error stop\n", True),
        (1, 'x.cu(1): error: identifier "x" is undefined\n', True),
        (1, "x.cu:1:2: error: #error stop\n", False),
        (0, "", False),
    ],
)
def test_a_preprocessor_that_fails_has_noted_nothing(rules: int, log: str, *, done: bool) -> None:
    """Its messages may then come from a file that is not in the list."""
    assert driver.is_preprocessed("student_source.o: x.h\n" * rules, log) is done


# --- object files --------------------------------------------------------------------------------------


def _object(names: bytes, symbols: tuple[tuple[int, int], ...]) -> bytes:
    """An object file of two sections: names, and symbols that are (where its name begins, its section)."""
    table = b"".join(struct.pack("<IBBHQQ", name, 0, 0, section, 0, 0) for name, section in symbols)
    begin = 64
    sections = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, begin, len(names), 0, 0, 1, 0)
    sections += struct.pack("<IIQQQQIIQQ", 0, 2, 0, 0, begin + len(names), len(table), 0, 0, 8, 24)
    head = b"\x7fELF\x02\x01".ljust(40, b"\0") + struct.pack("<Q", begin + len(names) + len(table))
    head += struct.pack("<IHHHHHH", 0, 64, 0, 0, 64, 2, 0)
    return head + names + table + sections


NAMES = b"\0main\0cudaMalloc\0open"
OBJECT = _object(NAMES, ((0, 0), (1, 1), (6, 0), (17, 0)))


def test_the_undefined_names_of_an_object_file_are_found() -> None:
    """Not those that it defines, nor symbols without a name."""
    assert undefined_names(OBJECT) == {"cudaMalloc", "open"}


@given(st.integers(0, len(OBJECT) - 1), st.integers(0, 255), st.integers(0, len(OBJECT)))
@example(47, 128, 62)  # sections that lie further than any file can be long
def test_a_damaged_object_file_is_read_or_refused(place: int, value: int, end: int) -> None:
    """Never anything but names or a ValueError."""
    damaged = bytearray(OBJECT)
    damaged[place] = value
    try:
        found = undefined_names(bytes(damaged[:end]))
    except ValueError:
        return
    assert all(isinstance(name, str) for name in found)


@pytest.mark.parametrize("code", [b"", b"MZ", OBJECT[:50], OBJECT[:-30], OBJECT[:58] + b"\1\0" + OBJECT[60:]])
def test_what_is_no_object_file_is_refused(code: bytes) -> None:
    """Too short, another kind, or sections that cannot be."""
    with pytest.raises(ValueError, match="no "):
        undefined_names(code)
