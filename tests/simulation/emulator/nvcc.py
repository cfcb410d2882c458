"""CUDA source → parsed PTX for tests, by the real compiler.

Within pytest a text without headers of its own is compiled as the grader compiles a student's, which leaves
out most of CUDA's; and every PTX is kept for the run of the tests, whoever asks for it next.
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

from grader.simulation.ptx import parse
from grader.toolchain.nvcc import find_toolchain
from grader.toolchain.nvcc.cache import read_entry, write_entry
from grader.toolchain.nvcc.compiler import Compiler
from grader.toolchain.nvcc.diagnostics import CompileRefused, Files
from grader.toolchain.nvcc.toolchain import PTX
from grader.toolchain.sandbox import Limits, LocalSandbox
from tests.builds import VARIABLE, shared_builds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.simulation.ptx import Module

HAZARDS = ("-Xcicc", "-O0", "-lineinfo")
"""Options of the build that hazards are looked for in; without them, the one that is counted."""

_USUAL = "-arch=compute_80"


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
    """The PTX; within pytest from the builds of this run, if it is there."""
    target = () if any(option.startswith("-arch=") for option in options) else (_USUAL,)
    options = (*target, *options)
    key = hashlib.sha256(repr((name, source, options)).encode()).hexdigest()
    kept = shared_builds() / "ptx" / key if VARIABLE in os.environ else None
    stored = read_entry(kept) if kept else None
    if stored is not None:
        return stored.decode()
    text = (_by_grader(name, source, options) if kept else "") or _by_nvcc(folder, name, source, options)
    if kept:
        write_entry(kept, text.encode())
    return text


def _by_nvcc(folder: Path, name: str, source: str, options: tuple[str, ...]) -> str:
    path, output = folder / name, folder / f"{name}.ptx"
    path.write_text(source)
    command = [compiler(), "-ptx", *options, "-o", str(output), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return output.read_text()


def _by_grader(name: str, source: str, options: tuple[str, ...]) -> str:
    """The grader's own PTX for these options; empty where it has other ones, or would take longer."""
    toolchain = find_toolchain()
    builds = {
        frozenset((_USUAL,)): toolchain.compile,
        frozenset((_USUAL, "-lineinfo")): toolchain.compile,
        frozenset((_USUAL, *HAZARDS)): toolchain.compile_for_hazards,
    }
    build = builds.get(frozenset(options))
    if build is None or "#include" in source:
        return ""
    toolchain = replace(toolchain, compile=build, compile_for_hazards=("touch", PTX))  # one of two is made
    sources, files = ((name, source.encode()),), Files(name, 0, (), toolchain.roots, checked=True)
    grader = Compiler(toolchain, LocalSandbox(), Limits(), sources, files, cache=shared_builds())
    try:
        return grader.translate(f'#include "{name}"\n'.encode()).ptx
    except CompileRefused:
        return ""


def line_of(source: str, text: str) -> int:
    """The number of the only line that contains ``text``."""
    (number,) = [at for at, line in enumerate(source.split("\n"), 1) if re.search(re.escape(text), line)]
    return number
