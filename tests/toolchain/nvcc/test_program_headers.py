"""Programs that are compiled with what they need of CUDA's header, and nothing else."""

from __future__ import annotations

import hashlib
import marshal
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import pytest

from grader.model import Build, ProgramInterface, Submission
from grader.toolchain.nvcc import Tools, build_program, find_toolchain, headers, program_headers
from grader.toolchain.nvcc.cache import write_entry
from grader.toolchain.nvcc.program_headers import HEADER
from grader.toolchain.sandbox import Equipment, Job, LocalSandbox, Result, Status
from tests.toolchain.nvcc.conftest import FILE, only_message

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = "__global__ void scale(float *C) { C[threadIdx.x] *= 2; }\n"
MAIN = """int main() {
    float *C;
    cudaMalloc(&C, 128);
    scale<<<1, 32>>>(C);
    return cudaDeviceSynchronize();
}
"""
PROGRAM = KERNEL + MAIN


class Compile(Protocol):
    """Build a program without the folders that it was made in, and list its instructions."""

    def __call__(self, source: str, architecture: str = "") -> tuple[Build, str]:
        """The build and the list."""


class Recording(LocalSandbox):
    """The local sandbox; it notes for each run of nvcc on the program whether it had a header of its own."""

    def __init__(self) -> None:
        self.ways: list[bool] = []

    def run(self, job: Job) -> Result:
        """Run the job and note it."""
        if job.argv[0].endswith("/nvcc") and "-c" in job.argv and "--dryrun" not in job.argv:
            self.ways.append(HEADER in dict(job.files))
        return super().run(job)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of builds in which the header is kept."""
    folder = tmp_path_factory.mktemp("builds")
    _built(PROGRAM, folder, LocalSandbox())
    return folder


@pytest.fixture
def builds(kept: Path, tmp_path: Path) -> Path:
    """Such a folder, in which no program is built yet."""
    of_programs = shutil.ignore_patterns("??")
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True, ignore=of_programs)
    return tmp_path


@pytest.fixture
def whole(builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compile:
    """Build with the whole header."""
    folder = tmp_path / "whole"
    shutil.copytree(builds, folder, ignore=shutil.ignore_patterns("headers", "whole"))

    def build_whole(source: str, architecture: str = "") -> tuple[Build, str]:
        with monkeypatch.context() as patched:
            patched.setattr(program_headers, "remember", lambda *_: None)
            return _plain(_built(source, folder, LocalSandbox(), architecture), tmp_path)

    return build_whole


def _built(source: str, folder: Path | None, sandbox: LocalSandbox, architecture: str = "") -> Build:
    submission = Submission("ada", FILE, source.encode(), "digest")
    tools = Tools(find_toolchain(), sandbox, folder)
    return replace(build_program(tools, submission, ProgramInterface(), architecture), seconds=())


def _plain(built: Build, folder: Path) -> tuple[Build, str]:
    """A build without the folders that it was made in, and the digest of its program's instructions."""
    without = [re.sub(r'"/\S*/(\w+\.cu)"', r'"\1"', text) for text in (built.ptx, built.hazard_ptx)]
    without = [re.sub(r"^\.b8 .*\n", "", text, flags=re.MULTILINE) for text in without]  # debug information
    plain = replace(built, program=b"", ptx=without[0], hazard_ptx=without[1])
    if not built.program:
        return plain, ""
    (folder / "program").write_bytes(built.program)
    listing = ("/usr/bin/objdump", "-d", "--no-show-raw-insn", str(folder / "program"))
    listed = subprocess.run(listing, capture_output=True, check=True).stdout
    return plain, hashlib.sha256(listed.partition(b"section")[2]).hexdigest()


def _same(one: tuple[Build, str], other: tuple[Build, str]) -> bool:
    """True if they are equal; where they are not, pytest would take a minute to say how."""
    return one == other


STYLES = {
    "without any header": PROGRAM,
    "headers of C": '#include <stdio.h>\n#include <math.h>\n#include "cuda_runtime.h"\n'
    + PROGRAM.replace("return", 'printf("%f %d\\n", sqrt(2.0), CUDART_VERSION); return'),
    "containers": "#include <vector>\n#include <algorithm>\n#include <string>\n"
    + PROGRAM.replace(
        "return",
        'std::vector<std::string> a{"b", "a"}; std::sort(a.begin(), a.end()); return a[0] > "a" ? 2 :',
    ),
    "streams of C++": "#include <iostream>\n#include <iomanip>\n#include <cuda_runtime.h>\n"
    + PROGRAM.replace("return", 'std::cout << std::setw(4) << dim3(2).x << " " << 1.5 << std::endl; return'),
    "bindings and ranges": "#include <map>\n#include <tuple>\n"
    + PROGRAM.replace(
        "return",
        "std::map<int, int> m{{1, 2}}; auto [x, y] = std::pair(1, 2); for (auto &e : m) x += y; return x +",
    ),
    "mathematics of devices": KERNEL.replace("*= 2", "= rsqrtf(C[0]) + __expf(C[1]) + max(C[2], 1.f)") + MAIN,
    "atomics and shuffles": KERNEL.replace(
        "*= 2;", "+= __shfl_down_sync(~0u, C[0], 1); atomicAdd(C, 1.f); __syncwarp();"
    )
    + MAIN,
    "types of CUDA": KERNEL.replace("*= 2", "= make_float4(1, 2, 3, 4).y + int3{1, 2, 3}.z")
    + MAIN.replace("return", "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.major +"),
    "memory and events": PROGRAM.replace(
        "return",
        "cudaEvent_t e; cudaEventCreate(&e); cudaMemcpyAsync(C, C, 4, cudaMemcpyDeviceToDevice, 0); "
        "const char *text = cudaGetErrorString(cudaGetLastError()); return text[0] +",
    ),
    "templates for both": "template <typename T> __host__ __device__ T twice(T x) { return x + x; }\n"
    + KERNEL.replace("*= 2", "= twice(C[0])")
    + MAIN.replace("return", "return twice(1) +"),
    "kernels that are templates": "template <typename T> __global__ void set(T *C) { *C = 1; }\n"
    + PROGRAM.replace("return", "set<<<1, 1>>>(C); set<int><<<1, 1>>>(nullptr); return"),
    "variables of the device": "__constant__ float table[4];\n__device__ int count;\n"
    "__managed__ int shared;\n"
    + KERNEL.replace("*= 2;", "*= table[1]; count++; shared++;")
    + MAIN.replace("return", "float t[4] = {}; cudaMemcpyToSymbol(table, t, sizeof t); return shared +"),
    "text from the device": "#include <cstdio>\n#include <cassert>\n"
    + KERNEL.replace("*= 2;", '*= 2; printf("%f", C[0]); assert(C[0] > 0);')
    + MAIN,
    "several streams": PROGRAM.replace(
        "return",
        "cudaStream_t s; cudaStreamCreate(&s); scale<<<1, 32, 64, s>>>(C); cudaStreamDestroy(s); return",
    ),
    "classes with both": "struct Matrix { float *data; int n; __host__ __device__ float &at(int i) const "
    "{ return data[i]; } };\n__global__ void scale(Matrix m) { m.at(threadIdx.x) *= 2; }\n"
    + MAIN.replace("(C)", "(Matrix{C, 3})"),
    "half precision": "#include <cuda_fp16.h>\n"
    + KERNEL.replace("*= 2", "= __half2float(__hadd(__float2half(C[0]), __float2half(1.f)))")
    + MAIN,
    "cooperative groups": "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    + KERNEL.replace("*= 2;", "*= 2; cg::this_thread_block().sync();")
    + MAIN,
    "a name of the headers": "static int signbit_of(float x) { return x < 0; }\nstruct pair { int first; };\n"
    + PROGRAM.replace("return", "pair p{1}; return signbit_of(-1) + p.first +"),
    "exceptions and new": "#include <stdexcept>\n#include <memory>\n"
    + PROGRAM.replace(
        "return",
        'auto p = std::make_unique<int[]>(4); try { throw std::runtime_error("x"); } '
        "catch (const std::exception &e) { return e.what()[0]; } int *q = new int[2]; delete[] q; return",
    ),
}


@pytest.mark.parametrize("source", STYLES.values(), ids=STYLES)
def test_a_program_is_the_same_with_less_of_the_header(
    source: str, builds: Path, tmp_path: Path, whole: Compile
) -> None:
    """Device code, instructions of the host, lines of calls: all is as with the whole header."""
    sandbox = Recording()
    less = _plain(_built(source, builds, sandbox), tmp_path)
    assert sandbox.ways == [True]
    assert less[0].ok
    assert _same(less, whole(source))


def test_a_program_for_a_gpu_has_the_whole_header(builds: Path) -> None:
    """That less of it gives the same is proved for the emulator alone."""
    sandbox = Recording()
    assert _built(PROGRAM, builds, sandbox, "sm_90").ok
    assert sandbox.ways == [False]


@pytest.mark.parametrize(
    "source",
    [
        "#warning careful\n" + PROGRAM,
        "#include <cstdio>\nstatic void idle() {}\n"
        + PROGRAM.replace("return", 'int x; printf("%f\\n", x); unsigned y = -1; return y < 0 ? 2 : x +'),
        "__global__ void bounded(int *p) { int n; if (threadIdx.x < 0) p[n] = 1; }\n" + PROGRAM,
        PROGRAM.replace("return", "return unknown +"),
        PROGRAM.replace("*= 2", "*= sqrt"),
        PROGRAM.replace("float *C;", "float *C; int unused;"),
        "int cudaMalloc;\n" + PROGRAM,
        "#include <nowhere.h>\n" + PROGRAM,
        "__global__ void scale(double);\n" + PROGRAM.replace("(C)", "(0.5)"),
    ],
    ids=[
        "warning",
        "warnings of three tools",
        "in a kernel",
        "unknown name",
        "wrong type",
        "unused",
        "name taken",
        "no such header",
        "not linked",
    ],
)
def test_messages_are_those_of_the_whole_header(
    source: str, builds: Path, tmp_path: Path, whole: Compile
) -> None:
    """A program that is refused is compiled once more; one with warnings has the very same ones."""
    sandbox = Recording()
    less = _built(source, builds, sandbox)
    assert _plain(less, tmp_path) == whole(source)
    assert not less.ok or (less.warnings and sandbox.ways == [True])


@pytest.mark.parametrize(
    "source",
    [
        PROGRAM.replace("*= 2", "*= 2 + __COUNTER__"),
        '#pragma push_macro("NULL")\n#undef NULL\n#pragma pop_macro("NULL")\n' + PROGRAM,
        PROGRAM + "int \\u0066ar;\n",
        "template <typename F> __global__ void each(F f) { f(threadIdx.x); }\n"
        + PROGRAM.replace("return", "each<<<1, 1>>>([=] __device__(int i) { C[i] = 1; }); return"),
    ],
    ids=["counter", "kept macros", "universal name", "lambda for devices"],
)
def test_where_it_would_show_the_header_is_whole(
    source: str, builds: Path, tmp_path: Path, whole: Compile
) -> None:
    """The build is the usual one."""
    sandbox = Recording()
    built = _plain(_built(source, builds, sandbox), tmp_path)
    assert built == whole(source)
    assert sandbox.ways == [False]


def test_a_header_of_the_students_own_with_that_name_is_theirs(builds: Path) -> None:
    """It is read where they include it, and ours does not take its place."""
    own = ((HEADER, b"#define EXTRA 3\n"),)
    source = f'#include "{HEADER}"\nint main() {{ return EXTRA; }}\n'.encode()
    submission = Submission("ada", FILE, source, "digest", headers=own)
    sandbox = Recording()
    with_cache = build_program(Tools(find_toolchain(), sandbox, builds), submission, ProgramInterface())
    without = build_program(Tools(find_toolchain(), LocalSandbox()), submission, ProgramInterface())
    assert replace(with_cache, seconds=(), program=b"") == replace(without, seconds=(), program=b"")


def test_a_foreign_file_is_refused_with_less_of_the_header_as_well(builds: Path, tmp_path: Path) -> None:
    """The files that the preprocessor read are examined before anything that it printed."""
    secret = tmp_path / "secret.h"
    secret.write_text("int secret;\n")
    built = _built(f'#include "{secret}"\n{PROGRAM}', builds, LocalSandbox())
    assert not built.ok
    assert "secret.h" in only_message(built)


@pytest.mark.parametrize("status", [Status.TIME, Status.MEMORY, Status.OUTPUT])
def test_a_program_with_which_a_limit_is_reached_is_compiled_once(status: Status, builds: Path) -> None:
    """It would take no less with the whole header, so no one waits twice for the limit."""

    class Limited(Recording):
        def run(self, job: Job) -> Result:
            result = super().run(job)
            if HEADER not in dict(job.files):
                return result
            return replace(result, outcome=replace(result.outcome, status=status, returncode=-9))

    sandbox = Limited()
    assert "the compiler was stopped" in only_message(_built(PROGRAM, builds, sandbox))
    assert sandbox.ways == [True]


def test_a_header_that_has_changed_is_read_again(builds: Path) -> None:
    """An update of the system makes a new one, before the next program is compiled."""
    for path in (builds / "headers").glob("*.runtime"):
        stored = headers.stored_entry(path) or pytest.fail("nothing is kept")
        host, device, implied, files = stored
        assert any(name.endswith(HEADER) for name, *_ in files)
        changed = [(name, size + 1, time) for name, size, time in files]
        write_entry(path, marshal.dumps((host, device, implied, changed)))
    sandbox = Recording()
    _built(PROGRAM, builds, sandbox)
    assert sandbox.ways == [True]
    entries = map(headers.stored_entry, (builds / "headers").glob("*.runtime"))
    assert all(entry is not None and entry[3] != changed for entry in entries)


def test_what_was_kept_last_can_be_had_in_memory(builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that processes which are forked later need not read it."""
    program_headers.load_newest(builds)
    monkeypatch.setattr(headers, "read_entry", lambda _: None)
    sandbox = Recording()
    _built(PROGRAM, builds, sandbox)
    assert sandbox.ways == [True]


@pytest.mark.parametrize("stored", [None, marshal.dumps(("one",)), b"no marshal"])
def test_without_what_was_kept_nothing_is_in_memory(stored: bytes | None, tmp_path: Path) -> None:
    """The first class of all finds none; what another version kept is no harm."""
    if stored is not None:
        write_entry(tmp_path / "headers" / "other.runtime", stored)
    program_headers.load_newest(tmp_path)


def test_in_an_image_the_header_is_whole(builds: Path) -> None:
    """A change of its files would not be noticed."""

    class WithImage(Recording):
        equipment = Equipment(nvcc="/usr/bin/nvcc")

    sandbox = WithImage()
    _built(PROGRAM, builds, sandbox)
    assert sandbox.ways == [False]
