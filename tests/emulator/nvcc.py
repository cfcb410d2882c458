"""CUDA source → parsed PTX for tests, by the real compiler."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from grader.ptx import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.ptx import Module

HAZARDS = ("-Xcicc", "-O0", "-lineinfo")
"""Options of the build that hazards are looked for in; without them, the one that is counted."""


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
    path, output = folder / name, folder / f"{name}.ptx"
    path.write_text(source)
    target = () if any(option.startswith("-arch=") for option in options) else ("-arch=compute_80",)
    command = [compiler(), "-ptx", *target, *options, "-o", str(output), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return output.read_text()


def line_of(source: str, text: str) -> int:
    """The number of the only line that contains ``text``."""
    (number,) = [at for at, line in enumerate(source.split("\n"), 1) if re.search(re.escape(text), line)]
    return number
