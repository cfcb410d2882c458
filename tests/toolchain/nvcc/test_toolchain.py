"""Finding the compiler, and explaining how to get one."""

from __future__ import annotations

import stat
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import StorageError, ToolMissing, UsageError
from grader.model import KernelInterface, Parameter, Submission
from grader.toolchain.nvcc import build, find_toolchain, toolchain
from grader.toolchain.sandbox import LocalSandbox

if TYPE_CHECKING:
    from pathlib import Path


def script(path: Path, text: str) -> Path:
    """A program of ours under ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_toolchain_is_found_with_its_plan() -> None:
    """The plan names files relative to the folder it runs in, and knows both builds."""
    found = find_toolchain()
    assert found.version.count(".") == 2
    assert found.preprocess[-3:] == ("grader_unit.cu", "-o", "grader_unit.cpp1.ii")
    assert found.compile[-3:] == ("grader_unit.cpp1.ii", "-o", "grader_unit.ptx")
    assert found.nvdisasm.endswith("/nvdisasm")
    assert "-arch" in found.compile
    added = set(found.compile_for_hazards) - set(found.compile)
    assert added == {"-O0"}
    assert "-generate-line-info" in found.compile
    assert any(root.endswith("/include") for root in found.roots)
    assert not any("tmpxft" in word for word in found.preprocess + found.compile)


def test_a_named_nvcc_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the option nor the variable is silently ignored."""
    with pytest.raises(UsageError, match="named as '/no/such/nvcc'"):
        find_toolchain("/no/such/nvcc")
    monkeypatch.setenv("GRADER_NVCC", "no-such-nvcc")
    with pytest.raises(UsageError, match="named as 'no-such-nvcc'"):
        find_toolchain()


def test_without_nvcc_the_message_explains_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One command installs all that is needed, in the version that is known to work."""
    monkeypatch.setattr(toolchain, "_candidates", lambda: iter(()))
    with pytest.raises(ToolMissing, match=r'pip install "nvidia-cuda-nvcc==13\.0\.\*"'):
        find_toolchain()


def test_on_macos_the_message_suggests_no_package_that_is_not_made_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is no nvcc for it, so its students need the image."""
    monkeypatch.setattr(toolchain, "_candidates", lambda: iter(()))
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ToolMissing, match="none for macOS: use your course's container image") as refused:
        find_toolchain()
    assert "pip install" not in str(refused.value)


def test_without_a_host_compiler_the_message_explains_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nvcc needs g++ to preprocess."""
    nvcc = script(tmp_path / "nvcc", "true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match=r"apt-get install g\+\+"):
        find_toolchain(str(nvcc))


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("echo nonsense >&2; exit 1", "nonsense;"),
        ("exit 0", "nothing;"),
        ("exec /no/such/program", "not found;"),
    ],
    ids=["error", "mute", "broken"],
)
def test_an_nvcc_that_does_not_work_is_reported(tmp_path: Path, text: str, output: str) -> None:
    """A program that is no nvcc is refused with its output; the message does not claim that there is none."""
    nvcc = script(tmp_path / "bin" / "nvcc", text)
    with pytest.raises(ToolMissing, match="does not work with") as refused:
        find_toolchain(str(nvcc))
    assert output in str(refused.value)
    assert "nvcc was not found" not in str(refused.value)
    assert 'get another nvcc with `pip install "nvidia-cuda-nvcc' in str(refused.value)


def test_an_nvcc_that_does_not_answer_is_reported_in_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither an argument list nor the name of an exception is shown."""
    nvcc = script(tmp_path / "bin" / "nvcc", "exec sleep 60")
    monkeypatch.setattr(toolchain, "_SECONDS", 0.2)
    with pytest.raises(ToolMissing, match=r"nvcc cannot be run: it did not answer within 0\.2 seconds; if "):
        find_toolchain(str(nvcc))


def test_where_no_temporary_file_can_be_written_the_message_suggests_no_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The disk is full, or TMPDIR and its like are not there."""
    nvcc = script(tmp_path / "bin" / "nvcc", "true")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(StorageError, match=r"no temporary file can be written: .*set TMPDIR") as refused:
        find_toolchain(str(nvcc))
    assert "pip install" not in str(refused.value)


@pytest.mark.parametrize("missing", ["ptxas", "cicc"])
def test_an_incomplete_toolkit_is_reported(tmp_path: Path, missing: str) -> None:
    """A toolkit without its compiler or its assembler is refused before it is used."""
    plan = (
        f"#$ TOP={tmp_path}\n#$ CICC_PATH={tmp_path}/nvvm\n"
        '#$ gcc -D__CUDACC_VER_MAJOR__=13 -E "grader_unit.cu" -o "tmpxft_1_0-5_grader_unit.ii"\n'
        '#$ "$CICC_PATH/cicc" "tmpxft_1_0-5_grader_unit.ii" -o "grader_unit.ptx"\n'
    )
    nvcc = script(tmp_path / "bin" / "nvcc", f"cat >&2 <<'END'\n{plan}END")
    for name, path in (("ptxas", tmp_path / "bin" / "ptxas"), ("cicc", tmp_path / "nvvm" / "cicc")):
        if name != missing:
            script(path, "true")
    with pytest.raises(ToolMissing, match=f"has no {missing}"):
        find_toolchain(str(nvcc))


def test_the_usual_places_are_looked_at_in_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The wheels come before PATH."""
    wheel = script(tmp_path / "cu13" / "bin" / "nvcc", "true")
    on_path = script(tmp_path / "elsewhere" / "nvcc", "true")
    monkeypatch.setattr(toolchain, "_wheel_folders", lambda: iter((tmp_path / "none", tmp_path / "cu13")))
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert list(toolchain._candidates())[:2] == [wheel, on_path]


def test_headers_of_a_toolkit_behind_a_link_are_the_toolkit_s(tmp_path: Path) -> None:
    """The preprocessor names them by their real path where that is shorter."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    (folder / "toolkit").symlink_to(find_toolchain().nvcc.resolve().parent.parent)
    linked = find_toolchain(str(folder / "toolkit" / "bin" / "nvcc"))
    source = b"#include <cuda/std/type_traits>\n__global__ void kernel(int *out) { *out = 1; }\n"
    interface = KernelInterface("kernel", (Parameter("out", "out", "int32"),), (), (), ())
    submission = Submission("s", "s.cu", source, "")
    built = build(submission, interface, sandbox=LocalSandbox(), toolchain=linked, cache=None)
    assert built.ok, built.findings
