"""Compile units whose headers are preprocessed once."""

from __future__ import annotations

import marshal
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.model import Build, Submission
from grader.toolchain.nvcc import build, find_toolchain, headers
from grader.toolchain.nvcc.cache import write_entry
from grader.toolchain.sandbox import Equipment, Job, LocalSandbox, Result, Status
from tests.toolchain.nvcc.conftest import FILE, INTERFACE, KERNEL, BuildSource, only_message

if TYPE_CHECKING:
    from pathlib import Path


class Recording(LocalSandbox):
    """The local sandbox; it notes the commands of the preprocessor."""

    def __init__(self) -> None:
        self.preprocessed: list[tuple[str, ...]] = []

    def run(self, job: Job) -> Result:
        """Run the job and note it."""
        self.preprocessed += [job.argv] if "-E" in job.argv else []
        return super().run(job)

    @property
    def ways(self) -> list[bool]:
        """A flag for each preprocessed unit: True if macros stood in place of the headers."""
        return ["-imacros" in command for command in self.preprocessed]


class Limited(Recording):
    """The same, where each preprocessor reaches a limit."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status

    def run(self, job: Job) -> Result:
        """Run the job, and report that it was stopped."""
        result = super().run(job)
        return replace(result, outcome=replace(result.outcome, status=self.status, returncode=-9))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of builds in which the toolchain's preamble is kept."""
    folder = tmp_path_factory.mktemp("builds")
    _built(KERNEL, folder, LocalSandbox())
    return folder


@pytest.fixture
def builds(kept: Path, tmp_path: Path) -> Path:
    """Such a folder, in which nothing is built yet."""
    shutil.copytree(kept / "headers", tmp_path / "headers")
    return tmp_path


def _built(source: str, folder: Path, sandbox: LocalSandbox) -> Build:
    submission = Submission("ada", FILE, source.encode(), "digest")
    built = build(submission, INTERFACE, sandbox=sandbox, toolchain=find_toolchain(), cache=folder)
    return replace(built, seconds=())


OF_SYSTEM = "#include <cstdio>\n#include <cfloat>\n#include <cassert>\n#include <cmath>\n"
STYLES = {
    "plain": KERNEL,
    "macros of system headers": OF_SYSTEM
    + KERNEL.replace("A[N]", "(A == NULL ? FLT_MAX : INFINITY) + A[N] + (EOF < 0)"),
    "macros of CUDA": KERNEL.replace("A[N]", "A[N] + CUDART_VERSION + __CUDA_ARCH__ + __CUDACC_VER_MAJOR__"),
    "headers again": f"#include <cuda_runtime.h>\n#include <utility>\n#include <new>\n{OF_SYSTEM}{KERNEL}",
    "conditions": "#ifndef __CUDACC_RTC__\n#undef NULL\n#include <cstddef>\n#endif\n" + KERNEL,
}


@pytest.mark.parametrize("source", STYLES.values(), ids=STYLES)
def test_macros_in_place_of_headers_give_the_same_build(
    source: str, builds: Path, build_source: BuildSource
) -> None:
    """Both builds are the same byte by byte, with the columns of lines and all that is read from the text."""
    sandbox = Recording()
    assert _built(source, builds, sandbox) == replace(build_source(source), seconds=())
    assert sandbox.ways == [True]


@pytest.mark.parametrize(
    "source",
    [
        KERNEL.replace("A[N]", "A[N] + __COUNTER__"),
        '#pragma push_macro("NULL")\n#undef NULL\n#pragma pop_macro("NULL")\n' + KERNEL,
        KERNEL + "int \\u0066ar;\n",
        f'#include "{headers.MACROS}"\n{KERNEL}',
    ],
    ids=["counter", "kept macros", "universal name", "a file of ours"],
)
def test_where_the_exchange_would_show_headers_are_read(
    source: str, builds: Path, build_source: BuildSource
) -> None:
    """The build is the usual one."""
    sandbox = Recording()
    assert _built(source, builds, sandbox) == replace(build_source(source), seconds=())
    assert sandbox.ways[0] is False


@pytest.mark.parametrize("line", ["#warning careful", "#include <cooperative_groups.h>"])
def test_what_is_not_compiled_silently_is_preprocessed_again(
    line: str, builds: Path, build_source: BuildSource
) -> None:
    """Units for which a tool prints a message, and those that are compiled whole, get their headers."""
    sandbox = Recording()
    source = f"{line}\n{KERNEL}"
    assert _built(source, builds, sandbox) == replace(build_source(source), seconds=())
    assert sandbox.ways[:2] == [True, False]


@pytest.mark.parametrize("status", [Status.TIME, Status.MEMORY, Status.OUTPUT])
def test_a_file_with_which_a_limit_is_reached_is_preprocessed_once(status: Status, builds: Path) -> None:
    """It would take no less with all its headers, so no one waits twice for the limit."""
    sandbox = Limited(status)
    built = _built(KERNEL, builds, sandbox)
    assert "the compiler was stopped" in only_message(built)
    assert sandbox.ways == [True]


def test_headers_that_have_changed_are_read_again(builds: Path) -> None:
    """An update of the system makes a new preamble, beside the next unit."""
    (kept,) = (builds / "headers").glob("*.preamble")
    toolchain = find_toolchain()
    text, macros, files = headers.load_preamble(builds, toolchain) or pytest.fail("nothing is kept")
    assert any(path.endswith("cuda_runtime.h") for path, *_ in files)
    headers.store_preamble(
        builds, toolchain, f'{text}\n# 1 "grader_unit.cu"\n', macros, [*(p for p, *_ in files), str(kept)]
    )
    assert headers.load_preamble(builds, toolchain) is None
    sandbox = Recording()
    _built(KERNEL, builds, sandbox)
    assert headers.load_preamble(builds, toolchain) is not None
    sandbox.preprocessed.clear()
    _built(KERNEL + "//\n", builds, sandbox)
    assert sandbox.ways == [True]


def test_what_was_kept_last_can_be_had_in_memory(builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that processes which are forked later need not read it; a file that is another one is read."""
    (kept,) = (builds / "headers").glob("*.preamble")
    headers.load_newest(builds)
    monkeypatch.setattr(headers, "read_entry", lambda _: None)
    sandbox = Recording()
    _built(KERNEL, builds, sandbox)
    assert sandbox.ways == [True]
    kept.touch()
    assert headers.load_preamble(builds, find_toolchain()) is None


@pytest.mark.parametrize("stored", [None, marshal.dumps(("one",)), b"no marshal"])
def test_without_what_was_kept_nothing_is_in_memory(stored: bytes | None, tmp_path: Path) -> None:
    """The first class of all finds none; what another version kept is no harm."""
    if stored is not None:
        write_entry(tmp_path / "headers" / "other.preamble", stored)
    headers.load_newest(tmp_path)
    assert headers.load_preamble(tmp_path, find_toolchain()) is None


def test_in_an_image_nothing_is_exchanged(builds: Path) -> None:
    """A change of its files would not be noticed."""

    class WithImage(Recording):
        equipment = Equipment(nvcc="/usr/bin/nvcc")

    sandbox = WithImage()
    _built(KERNEL, builds, sandbox)
    assert not any(sandbox.ways)


def test_an_image_is_known_by_its_digest(tmp_path: Path) -> None:
    """Its files need not be looked at, for they stay; of another image nothing is known."""

    class WithImage(Recording):
        equipment = Equipment(nvcc=str(find_toolchain().nvcc), image="sha256:1")

    ways = []
    for digest, end in (("sha256:1", "\n"), ("sha256:1", "//\n"), ("sha256:2", "//1\n")):
        toolchain = replace(find_toolchain(), image=digest)
        submission = Submission("ada", FILE, (KERNEL + end).encode(), "digest")
        sandbox = WithImage()
        assert build(submission, INTERFACE, sandbox=sandbox, toolchain=toolchain, cache=tmp_path).ok
        ways.append(sandbox.ways[0])
        preamble = headers.load_preamble(tmp_path, toolchain) or pytest.fail("nothing is kept")
        assert preamble.files == []
    assert ways == [False, True, False]


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("g++ -E -include cuda_runtime.h x", f"g++ -E -imacros {headers.MACROS} x"),
        ("g++ -E x", None),
        ("g++ -include cuda_runtime.h -include other.h x", None),
    ],
)
def test_only_the_usual_headers_are_exchanged(command: str, changed: str | None) -> None:
    """A toolkit that includes others is left as it is."""
    assert headers.without_headers(tuple(command.split())) == (changed and tuple(changed.split()))
