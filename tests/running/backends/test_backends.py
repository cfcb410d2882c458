"""The table of backends: what is chosen on which machine, and what each declares that it can do."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.running.backends import AUTO, BACKENDS, CHOICES, Backend, may_use_gpu, must_use_gpu, prepare
from grader.toolchain.gpu import RaceJudge
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.toolchain.gpu.pretend import GPU

if TYPE_CHECKING:
    from grader.toolchain.gpu.devices import Gpu


@pytest.fixture
def tools() -> Tools:
    """A compiler that nothing is compiled with here."""
    return Tools(find_toolchain(), LocalSandbox())


@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_is_called_by_its_key(name: str) -> None:
    """In grades, and it needs a GPU in the table where time is measured."""
    backend = BACKENDS[name].load()
    assert issubclass(backend, Backend)
    assert backend.name == name
    assert backend.measures_time is BACKENDS[name].needs_gpu


def test_what_can_be_chosen_is_the_table_and_auto() -> None:
    """``auto`` looks for GPUs and does without; the name of a backend states what has to be there."""
    assert (AUTO, *BACKENDS) == CHOICES
    assert {"emulator", "gpu"} <= set(BACKENDS)
    on_gpus = [name for name in BACKENDS if BACKENDS[name].needs_gpu]
    assert [name for name in CHOICES if may_use_gpu(name)] == [AUTO, *on_gpus]
    assert [name for name in CHOICES if must_use_gpu(name)] == on_gpus


def test_auto_is_the_emulator_where_there_is_no_gpu(tools: Tools) -> None:
    """And so is its name."""
    assert prepare(AUTO, tools, ()) == prepare("emulator", tools, ())
    assert prepare(AUTO, tools, ()).pool is None


def test_auto_is_the_gpu_where_there_is_one(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the GPUs that it was given, and with who judges races."""

    def pool_of(_tools: Tools, gpus: tuple[Gpu, ...], races: RaceJudge) -> GpuPool:
        return GpuPool(gpus, "python3", (), "compute-sanitizer", races)

    monkeypatch.setattr("grader.toolchain.gpu.pool.prepare", pool_of)
    backend = prepare(AUTO, tools, (GPU,), "sanitizer")
    assert (backend.name, backend.device) == ("gpu", GPU.name)
    assert (backend.architectures, backend.architecture) == ((GPU.architecture,), GPU.architecture)
    assert backend.pool == GpuPool((GPU,), "python3", (), "compute-sanitizer", RaceJudge.SANITIZER)


def test_the_table_loads_no_backend() -> None:
    """The command line reads its names before anything else."""
    code = "import sys, grader.running.backends; print([n for n in sys.modules if n.startswith('numpy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
