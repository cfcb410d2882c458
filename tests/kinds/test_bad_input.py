"""Whatever is handed in ends in a clear message, and the rest of the class is graded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from grader.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.timeout(600)  # the first test waits for the whole class, bombs included

ROOT = Path(__file__).resolve().parents[2]
GOOD = (ROOT / "reference/matmul/solution.cu").read_bytes()
HEAD = b"__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N)"


class Bad(NamedTuple):
    """Something a student might hand in: how to make it, and what the feedback must say."""

    make: Callable[[Path], None]
    message: str


def _file(content: bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / "mine.cu").write_bytes(content)

    return make


def _folder(**files: bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        folder.mkdir()
        for name, content in files.items():
            (folder / name.replace("_DOT_", ".")).write_bytes(content)

    return make


def _link_out(folder: Path) -> None:
    folder.mkdir()
    (folder / "mine.cu").symlink_to("/etc/passwd")


def _fifo(folder: Path) -> None:
    folder.mkdir()
    os.mkfifo(folder / "mine.cu")


def _sparse(folder: Path) -> None:
    folder.mkdir()
    with (folder / "mine.cu").open("wb") as file:
        file.truncate(50_000_000)


def _body(statements: str) -> bytes:
    return HEAD + b" {\n" + statements.encode() + b"\n}\n"


def _tile(value: str) -> bytes:
    return f"#define TILE_SIZE {value}\n".encode() + _body(
        "  int row = blockIdx.y * TILE_SIZE + threadIdx.y;\n  if (row < M) C[row] = A[row];"
    )


TEMPLATE_BOMB = (
    b"template <int N> struct B { enum { v = B<N + 1>::v + B<N + 2>::v }; };\n__device__ int x = B<0>::v;\n"
    + GOOD
)
MACRO_BOMB = (
    b"#define A0 x\n"
    + b"".join(b"#define A%d A%d A%d\n" % (n, n - 1, n - 1) for n in range(1, 40))
    + b"int y = A39;\n"
)

STUDENTS = {
    "empty-file": Bad(_file(b""), "empty"),
    "only-blank": Bad(_file(b"\n\n   \n"), "empty"),
    "empty-folder": Bad(_folder(), "the folder is empty"),
    "no-source": Bad(_folder(notes_DOT_txt=b"hello"), "no source file"),
    "two-files": Bad(_folder(a_DOT_cu=GOOD, b_DOT_cu=GOOD), "a.cu"),
    "fifty-megabytes": Bad(_sparse, "at most 1 MiB"),
    "nul-bytes": Bad(_file(b"\x00\x01\x02" * 100), "binary"),
    "an-executable": Bad(_file(b"\x7fELF\x02\x01\x01\x00" + b"\x00" * 100), "compiled program"),
    "link-out": Bad(_link_out, "link"),
    "fifo": Bad(_fifo, "named pipe"),
    "prose": Bad(_file(b"I could not finish, sorry. Please see my e-mail.\n"), "mine.cu"),
    "python": Bad(_file(b"import numpy as np\nprint(np.dot(A, B))\n"), "mine.cu"),
    "unterminated-comment": Bad(_file(b"/* my kernel\n" + GOOD), "comment"),
    "missing-brace": Bad(_file(GOOD.rstrip().removesuffix(b"}")), "expected"),
    "error-directive": Bad(_file(b"#error not today\n"), "not today"),
    "error-flood": Bad(_file(b"#error again\n" * 50_000), "again"),
    "undeclared": Bad(_file(_body("  C[0] = nothing;")), "nothing"),
    "missing-header": Bad(_file(b'#include "wb.h"\n__device__ wb_t one;\n' + GOOD), "wb.h"),
    "includes-passwd": Bad(_file(b'#include "/etc/passwd"\n' + GOOD), "not part of"),
    "includes-zero": Bad(_file(b'#include "/dev/zero"\n' + GOOD), "the compiler was stopped"),
    "includes-itself": Bad(_file(b"#include __FILE__\n" + GOOD), "nested depth"),
    "template-bomb": Bad(_file(TEMPLATE_BOMB), "excessive recursion"),
    "macro-bomb": Bad(_file(MACRO_BOMB), "the compiler was stopped"),
    "million-lines": Bad(_file(b"\n" * 900_000 + b"nonsense\n"), "900001"),
    "no-kernel": Bad(_file(b"#include <stdio.h>\nint main() { return 0; }\n"), "no kernel"),
    "other-name": Bad(_file(HEAD.replace(b"tiledMatMul", b"matmulTiled") + b" {}\n"), "matmulTiled"),
    "too-few-parameters": Bad(
        _file(b"__global__ void tiledMatMul(float *A, float *B, float *C, int N) {}\n"), "parameter"
    ),
    "doubles": Bad(_file(HEAD.replace(b"float", b"double") + b" {}\n"), "double"),
    "tile-zero": Bad(_file(_tile("0")), "TILE_SIZE"),
    "tile-64": Bad(_file(_tile("64")), "4096 threads"),
    "too-much-shared": Bad(
        _file(
            _body(
                "  __shared__ float t[20000];\n  t[threadIdx.x] = A[0];\n  __syncthreads();\n  C[0] = t[5];"
            )
        ),
        "49152",
    ),
    "never-ends": Bad(
        _file(_body("  volatile int i = 0;\n  while (i == 0) C[0] = i;")), "without coming to its end"
    ),
    "traps": Bad(_file(_body('  asm("trap;");')), "trap"),
    "null-pointer": Bad(_file(_body("  float *p = 0;\n  *p = A[0];")), "belongs to no array"),
    "bad-ptx": Bad(_file(_body('  asm("no.such.instruction;");')), "no.such"),
    "latin-1 naïve": Bad(_file("// für €\n".encode("latin-1", "replace") + b"#error \xfc\xdf\n"), "mine.cu"),
    "; rm -rf $HOME `id`": Bad(_file(b"#error quoted\n"), "quoted"),
    "\x1b[31mred\u202eder": Bad(_file(b"#error \x1b[2Jboo\n"), "boo"),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The grades of a class of bad hand-ins with a good one before and after, by file name of the student."""
    base = tmp_path_factory.mktemp("bad")
    folder, out = base / "class", base / "out"
    folder.mkdir()
    for name, bad in STUDENTS.items():
        bad.make(folder / name)
    odd = os.fsdecode(b"caf\xe9")  # not UTF-8
    for name in ("0-first", "zz-last", odd):
        _file(GOOD)(folder / name)
    code = main(["grade", "tiled-matmul", str(folder), "-o", str(out), "--seed", "5", "-j", "2"])
    assert code == 0
    found = {}
    for path in out.glob("grades/*/grade.json"):
        grade = json.loads(path.read_text())
        found[grade["submission"]["id"]] = grade
    assert len(found) == len(STUDENTS) + 3
    return found


def _of(graded: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """The grade of a student, whose id is the folder's name made safe."""
    if name in graded:
        return graded[name]
    order = sorted([*STUDENTS, "0-first", "zz-last", os.fsdecode(b"caf\xe9")])
    odd = [other for other in order if other not in graded]
    left = sorted(identity for identity in graded if identity not in order)
    return graded[left[odd.index(name)]] if len(odd) == 1 else _by_message(graded, left, name)


def _by_message(graded: dict[str, dict[str, Any]], left: list[str], name: str) -> dict[str, Any]:
    for identity in left:
        if STUDENTS[name].message in json.dumps(graded[identity], ensure_ascii=False):
            return graded[identity]
    raise AssertionError(f"no grade for {name!r} among {left}")


@pytest.mark.parametrize("name", STUDENTS)
def test_a_bad_submission_gets_a_message_with_the_reason(
    graded: dict[str, dict[str, Any]], name: str
) -> None:
    """It is judged, below full marks, as the student's own; the mistake is reported, and no path of ours."""
    grade = _of(graded, name)
    report = json.dumps([grade["items"], grade["cases"]], ensure_ascii=False)
    assert grade["verdict"] == "fail"
    assert grade["score"] < grade["max_score"]
    assert STUDENTS[name].message in report
    assert "/tmp" not in report  # noqa: S108 - the very thing that must not show
    assert "Traceback" not in report
    assert "root:x:0" not in report
    assert "\x1b" not in report


@pytest.mark.parametrize("name", ["0-first", "zz-last"])
def test_the_rest_of_the_class_is_graded(graded: dict[str, dict[str, Any]], name: str) -> None:
    """A good submission beside the bad ones has full marks."""
    assert graded[name]["verdict"] == "pass"
    assert graded[name]["score"] == graded[name]["max_score"]


def test_a_name_that_is_not_utf8_is_graded_and_shown_harmlessly(graded: dict[str, dict[str, Any]]) -> None:
    """The submission in a folder named in Latin-1 has full marks under a readable name."""
    shown = [identity for identity in graded if identity.startswith("caf")]
    assert len(shown) == 1
    assert graded[shown[0]]["verdict"] == "pass"


def test_at_least_thirty_kinds_of_bad_input_are_tried() -> None:
    """The table is as long as was promised."""
    assert len(STUDENTS) >= 30
