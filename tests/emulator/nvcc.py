"""CUDA source → parsed PTX for tests, by the real compiler.

Within pytest a text is compiled as the grader compiles a student's: without most of CUDA's own headers, both
builds in one go. Every PTX is kept for the run of the tests, whoever asks for it next.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.nvcc import find_toolchain
from grader.nvcc.cache import read_entry, write_entry
from grader.nvcc.compiler import Compiler
from grader.nvcc.diagnostics import CompileRefused, Files
from grader.ptx import parse
from grader.sandbox import Limits, LocalSandbox
from tests.builds import VARIABLE, shared_builds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.nvcc.toolchain import Toolchain
    from grader.ptx import Module

HAZARDS = ("-Xcicc", "-O0", "-lineinfo")
"""Options of the build that hazards are looked for in; without them, the one that is counted."""

_TARGET = "-arch=compute_"
_AS_THE_GRADER_DOES = {(): False, ("-lineinfo",): False, HAZARDS: True}
"""Options of the grader's two builds, in which lines are always noted: which one it is."""


def compiler() -> str:
    """Path of nvcc: the one from the wheels, else the system's."""
    spec = importlib.util.find_spec("nvidia.cu13")
    for folder in spec.submodule_search_locations or () if spec else ():
        if (found := Path(folder) / "bin" / "nvcc").exists():
            return str(found)
    found_on_path = shutil.which("nvcc")
    assert found_on_path, "nvcc is not installed: pip install '.[nvcc]'"
    return found_on_path


def compile_all(sources: Mapping[str, str], options: Iterable[str]) -> dict[str, Module]:
    """Compile each source (by the file name that findings will know it by), two at a time."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        each = [(Path(folder), name, source, tuple(options)) for name, source in sources.items()]
        return dict(zip(sources, pool.map(lambda job: _compile(*job), each), strict=True))


def compile_one(source: str, options: Iterable[str] = HAZARDS, name: str = "kernel.cu") -> Module:
    """Compile one source."""
    return compile_all({name: source}, options)[name]


def ptx(source: str, options: Iterable[str] = HAZARDS, name: str = "kernel.cu") -> str:
    """The text of a compiled source."""
    with tempfile.TemporaryDirectory() as folder:
        return _compiled(Path(folder), name, source, tuple(options))


def entries(module: Module) -> list[str]:
    """The names of the kernels."""
    return [function.name for function in module.functions if function.is_entry]


def _compile(folder: Path, name: str, source: str, options: tuple[str, ...]) -> Module:
    return parse(_compiled(folder, name, source, options))


def _compiled(folder: Path, name: str, source: str, options: tuple[str, ...]) -> str:
    architecture = next((o for o in options if o.startswith(_TARGET)), f"{_TARGET}80").removeprefix(_TARGET)
    others = tuple(option for option in options if not option.startswith(_TARGET))
    if VARIABLE in os.environ and others in _AS_THE_GRADER_DOES:
        is_for_hazards = _AS_THE_GRADER_DOES[others]
        if text := _translated(name, source, architecture, is_for_hazards=is_for_hazards):
            return text
    path, output = folder / name, folder / f"{name}.ptx"
    path.write_text(source)
    command = [compiler(), "-ptx", f"{_TARGET}{architecture}", *others, "-o", str(output), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return output.read_text()


def _translated(name: str, source: str, architecture: str, *, is_for_hazards: bool) -> str:
    """One of the grader's two builds, of which the other is kept, too; empty where it refuses the file."""
    key = hashlib.sha256(repr((name, source, architecture)).encode()).hexdigest()
    builds = [shared_builds() / "ptx" / f"{key}.{build}" for build in ("default", "hazards")]
    stored = read_entry(builds[is_for_hazards])
    if stored is not None:
        return stored.decode()
    toolchain = _toolchain(architecture)
    sources, files = ((name, source.encode()),), Files(name, 0, (), toolchain.roots, checked=True)
    grader = Compiler(toolchain, LocalSandbox(), Limits(), sources, files, cache=shared_builds())
    try:
        made = grader.translate(f'#include "{name}"\n'.encode())
    except CompileRefused:
        return ""
    texts = (made.ptx, made.hazard_ptx)
    if all(texts):
        for path, text in zip(builds, texts, strict=True):
            write_entry(path, text.encode())
    return texts[is_for_hazards]


def _toolchain(architecture: str) -> Toolchain:
    """The grader's, for a compute capability times ten: its commands name it in these two ways."""
    grader = find_toolchain()

    def made_for(command: tuple[str, ...]) -> tuple[str, ...]:
        old, new = grader.architecture, architecture
        named = (word.replace(f"compute_{old}", f"compute_{new}") for word in command)
        return tuple(re.sub(rf"^(-D__CUDA_ARCH\w*=){old}0$", rf"\g<1>{new}0", word) for word in named)

    return replace(
        grader,
        preprocess=made_for(grader.preprocess),
        compile=made_for(grader.compile),
        compile_for_hazards=made_for(grader.compile_for_hazards),
        architecture=architecture,
    )


def line_of(source: str, text: str) -> int:
    """The number of the only line that contains ``text``."""
    (number,) = [at for at, line in enumerate(source.split("\n"), 1) if re.search(re.escape(text), line)]
    return number
