"""Compiling the native library: C++ behind a C interface, made as the package is installed.

    python -m grader.toolchain.core_library     makes it, unless the one that is there is current

Where processors differ in what they have (x86-64), there are two: one that each of them executes, and one for
those with AVX2. Both give the same bits. This file imports nothing of the package, for the hook that makes a
wheel runs it before there is one.
"""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_OF = runpy.run_path(str(Path(__file__).parents[1] / "simulation/native/sources.py"))
"""The names of that file, which is read as it is, for there may be no package yet."""

SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
"""Options of a library for tests, which ends the process at the first mistake of its own."""


def libraries_of_machine() -> dict[Path, tuple[str, ...]]:
    """The libraries of this machine, with the options beside the common ones."""
    has_wide = platform.machine().lower() in ("x86_64", "amd64")
    return {_OF["PLAIN"]: (), **({_OF["WIDE"]: _OF["OF_WIDE"]} if has_wide else {})}


def is_current(library: Path) -> bool:
    """True if a library is of these sources."""
    try:
        return _OF["digest"]().encode() in library.read_bytes()
    except OSError:
        return False


def build(libraries: dict[Path, tuple[str, ...]]) -> str:
    """Compile libraries with their own options, two sources at a time; empty, or else what went wrong."""
    compiler = shutil.which(os.environ.get("CXX") or "g++") or shutil.which("c++")
    if compiler is None:
        return "no C++ compiler was found"
    command = [compiler, *_OF["OPTIONS"], f"-I{_OF['FOLDER']}", f'-DDIGEST="{_OF["digest"]()}"']
    with tempfile.TemporaryDirectory() as folder:
        running = {}
        for number, (library, more) in enumerate(libraries.items()):
            output = f"{folder}/{number}.so"
            parts = [str(file) for file in _OF["files"]() if file.suffix == ".cpp"]
            running[library] = (
                output,
                subprocess.Popen(
                    [*command, *more, "-shared", *parts, "-o", output], stderr=subprocess.PIPE, text=True
                ),
            )
        problems = "".join(process.communicate()[1] for _, process in running.values())
        if any(process.returncode for _, process in running.values()):
            return problems
        for library, (output, _) in running.items():
            beside = library.with_name(f".{library.name}.{os.getpid()}")
            shutil.copyfile(output, beside)
            beside.replace(library)
    return ""


def main(arguments: list[str]) -> int:
    """Make the libraries that are not current; with a path a sanitized one there."""
    if arguments:
        problem = build({Path(arguments[0]): SANITIZED})
        sys.stderr.write(problem)
        return bool(problem)
    missing = {library: more for library, more in libraries_of_machine().items() if not is_current(library)}
    problem = build(missing) if missing else ""
    if problem:
        lost = "launches take longer, and no speed is estimated"
        sys.stderr.write(f"the native core could not be compiled; {lost}:\n{problem}")
    return bool(problem)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
