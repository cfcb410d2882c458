"""Programs that include libwb's header run unchanged, with a header of the grader's and no library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import ProgramInterface, Submission
from grader.toolchain.nvcc import Tools, build_program, find_toolchain
from grader.toolchain.nvcc.source import compile_files
from grader.toolchain.sandbox import Job, Limits, LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from grader.toolchain.sandbox import Result

VECTORS = r"""#include <wb.h>
#define wbCheck(stmt) do { cudaError_t err = stmt; if (err != cudaSuccess) { \
    wbLog(ERROR, "Failed to run stmt ", #stmt); return -1; } } while (0)
int main(int argc, char **argv) {
    wbArg_t args;
    int length;
    args = wbArg_read(argc, argv);
    wbTime_start(Generic, "Importing ", 2, " vectors");
    float *a = (float *)wbImport(wbArg_getInputFile(args, 0), &length);
    float *b = (float *)wbImport(wbArg_getInputFile(args, 1), &length);
    wbTime_stop(Generic, "Importing ", 2, " vectors");
    wbLog(TRACE, "The input length is ", length);
    for (int i = 0; i < length; ++i) a[i] += b[i];
    wbSolution(args, a, length);
    free(a);
    free(b);
    return 0;
}
"""
INTEGERS = r"""#include "wb.h"
int main(int argc, char **argv) {
    wbArg_t args = wbArg_read(argc, argv);
    int rows, columns;
    float *m = (float *)wbImport(wbArg_getInputFile(args, 0), &rows, &columns);
    int length;
    int *v = (int *)wbImport(wbArg_getInputFile(args, 1), &length, "Integer");
    wbAssert(wbArg_getInputCount(args) == 3 && wbImport_flag(wbArg_getInputFile(args, 2)) == 7);
    for (int i = 0; i < rows * columns; ++i) v[i] *= (int)m[i];
    wbSolution(args, v, rows, columns);
    return 0;
}
"""
IMAGE = r"""#include <wb.h>
int main(int argc, char **argv) {
    wbArg_t args = wbArg_read(argc, argv);
    wbImage_t in = wbImport(wbArg_getInputFile(args, 0));
    int w = wbImage_getWidth(in), h = wbImage_getHeight(in), c = wbImage_getChannels(in);
    wbImage_t out = wbImage_new(w, h, c);
    for (int i = 0; i < w * h * c; ++i) wbImage_getData(out)[i] = 1 - wbImage_getData(in)[i];
    wbSolution(args, out);
    wbImage_delete(in);
    wbImage_delete(out);
}
"""
INPUT = "3\n1.5\n2\n3\n"


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; each program is built once."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def ran(
    tools: Tools, source: str, arguments: tuple[str, ...], files: dict[str, bytes], stdin: bytes = b""
) -> Result:
    """The result of a program that is built as students' are."""
    build = build_program(tools, Submission("s", "s.cu", source.encode(), ""), ProgramInterface(), "sm_90")
    assert build.ok
    assert not build.warnings
    given = (("program", build.program or b""), *files.items())
    job = Job(("./program", *arguments), given, ("out.raw", "out.ppm", "solution.npy"), Limits(), stdin=stdin)
    return LocalSandbox().run(job)


def array_of(result: Result) -> tuple[str, list[object]]:
    """The type and the elements of the solution."""
    content = result.file("solution.npy") or b""
    size = int.from_bytes(content[8:10], "little")
    assert (10 + size) % 64 == 0
    header = eval(content[10 : 10 + size], {})  # noqa: S307 - written by the program above
    array = np.frombuffer(content[10 + size :], header["descr"]).reshape(header["shape"])
    return header["descr"], array.tolist()


@pytest.mark.slow
def test_two_vectors_are_read_and_their_sum_is_handed_in(tools: Tools) -> None:
    """The output file has the raw format, and the solution is compared with what is expected."""
    files = {"a.raw": INPUT.encode(), "b.raw": INPUT.encode(), "e.raw": b"3\n3\n4\n6\n"}
    result = ran(tools, VECTORS, ("-i", "a.raw,b.raw", "-o", "out.raw", "-e", "e.raw", "-t", "vector"), files)
    assert result.outcome.ok
    assert result.file("out.raw") == b"3\n3\n4\n6\n"
    assert array_of(result) == ("<f4", [3.0, 4.0, 6.0])
    assert b"main::12 The input length is 3\n" in result.outcome.stdout
    assert result.outcome.stdout.endswith(b"The solution is correct\n")


@pytest.mark.slow
def test_a_program_may_write_its_output_itself(tools: Tools) -> None:
    """To the file that it is given."""
    source = VECTORS.replace("wbSolution(args, a, length)", "wbExport(wbArg_getOutputFile(args), a, length)")
    files = {"a.raw": INPUT.encode()}
    result = ran(tools, source, ("-i", "a.raw,a.raw", "-o", "out.raw"), files)
    assert result.outcome.ok
    assert result.file("out.raw") == b"3\n3\n4\n6\n"
    assert b"no output; give it with -o" in ran(tools, source, ("-i", "a.raw,a.raw"), files).outcome.stderr


@pytest.mark.slow
def test_what_cuda_has_under_a_later_name_is_compiled_as_that(tools: Tools) -> None:
    """Programs for libwb are older than CUDA 13."""
    source = VECTORS.replace("    free(b);", "    cudaThreadSynchronize();\n    free(b);")
    build = build_program(tools, Submission("s", "s.cu", source.encode(), ""), ProgramInterface(), "sm_90")
    assert (build.ok, build.calls_device) == (True, True)


@pytest.mark.slow
def test_a_wrong_solution_is_reported(tools: Tools) -> None:
    """The first element that differs is named with both values."""
    files = {"a.raw": INPUT.encode(), "e.raw": b"3\n3\n5\n6\n"}
    result = ran(tools, VECTORS, ("-i", "a.raw,a.raw", "-e", "e.raw"), files)
    assert b"not correct: element 1 is 4, expected 5\n" in result.outcome.stdout


@pytest.mark.slow
def test_inputs_come_from_standard_input_one_after_the_other(tools: Tools) -> None:
    """An input called `-` is the next array there, so a case can bring its arrays in its YAML."""
    result = ran(tools, VECTORS, ("-i", "-,-"), {}, b"2\n1 2\n2\n10 20\n")
    assert array_of(result) == ("<f4", [11.0, 22.0])


@pytest.mark.slow
def test_a_matrix_and_integers_are_read(tools: Tools) -> None:
    """Rows and columns come from the first line, and integers stay integers."""
    files = {"m.raw": b"2 3\n1 2 3\n4 5 6\n", "v.raw": b"6\n1 1 1 1 1 2\n", "mode.flag": b"7\n"}
    result = ran(tools, INTEGERS, ("-i", "m.raw,v.raw,mode.flag", "-o", "out.raw"), files)
    assert array_of(result) == ("<i4", [[1, 2, 3], [4, 5, 12]])
    assert result.file("out.raw") == b"2 3\n1 2 3\n4 5 12\n"


@pytest.mark.slow
def test_an_image_is_read_and_written(tools: Tools) -> None:
    """Bytes become numbers from 0 to 1, and bytes again; a comment in the head is skipped."""
    head = b"P6\n# made by hand\n2 1\n255\n"
    result = ran(
        tools, IMAGE, ("-i", "i.ppm", "-o", "out.ppm"), {"i.ppm": head + bytes([0, 1, 2, 255, 254, 253])}
    )
    assert result.file("out.ppm") == b"P6\n2 1\n255\n" + bytes([255, 254, 253, 0, 1, 2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "cannot open the input `a.raw`"),
        ({"a.raw": b"3\n1\n2\n"}, "the input `a.raw` has 2 of 3 elements"),
        ({"a.raw": b"2000000000 9\n"}, "the extents of `a.raw` are no sizes of an array"),
        ({"a.raw": b"1\nx\n"}, "`x` in the input `a.raw` is no number"),
    ],
)
def test_an_input_that_cannot_be_read_ends_the_program_with_a_reason(
    tools: Tools, files: dict[str, bytes], words: str
) -> None:
    """The message names the file."""
    result = ran(tools, VECTORS, ("-i", "a.raw,a.raw"), files)
    assert result.outcome.returncode == 1
    assert words in result.outcome.stderr.decode()


def test_the_header_comes_only_to_programs_that_include_it_and_have_none() -> None:
    """A header of the assignment or of the student stays as it is."""

    def headers(source: str, *others: tuple[str, str]) -> dict[str, bytes]:
        submission = Submission("s", "s.cu", source.encode(), "")
        return dict(compile_files(submission, ProgramInterface(include=others)))

    assert "wb.h" not in headers("int main() {}\n")
    assert b"wbSolution" in headers(VECTORS)["wb.h"]
    assert headers(VECTORS, ("wb.h", "// course\n"))["wb.h"] == b"// course\n"
    elsewhere = headers(VECTORS.replace("<wb.h>", '"../lib/wb.h"'))
    assert b"wbSolution" in elsewhere["wb.h"]
    assert elsewhere["student_source.cu"].startswith(b'#include "wb.h"\n')
