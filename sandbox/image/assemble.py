"""Put together the files of an image: those that were asked for, what they need, and nothing else.

    python3 assemble.py INTO [--beside EARLIER] LIST...

INTO becomes a root: what the lists of patterns name, the libraries that programs in it name, the usual links
and folders, and a user without rights. With ``--beside`` it holds only what the root EARLIER does not.
Times and owners are the same in every build, and no file gives whoever runs it more rights.
"""

from __future__ import annotations

import argparse
import compileall
import os
import py_compile
import re
import shutil
import stat
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

from contents import digest

PLACES = ("/usr", "/opt")
LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64", "sbin": "usr/sbin"}
FOLDERS = {
    "dev": 0o755,
    "etc/cuda-grader": 0o755,
    "job": 0o1777,
    "proc": 0o555,
    "sys": 0o555,
    "tmp": 0o1777,
    "usr/sbin": 0o755,
}
USER = 65532
TEXTS = {
    "etc/passwd": f"root:x:0:0::/:/sbin/nologin\ngrader:x:{USER}:{USER}::/job:/bin/sh\n",
    "etc/group": f"root:x:0:\ngrader:x:{USER}:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "etc/ld.so.conf": "/opt/cuda/lib\n",
}
NOT_OURS = re.compile(r"lib(cu|nv|nccl)\w*\.so.*")
"""Libraries of the driver, which comes with the machine, and of parts of the toolkit that nothing loads."""


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("into", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("lists", type=Path, nargs="+")
    options = parser.parse_args()
    patterns = [line for file in options.lists for line in _lines(file)]
    tree = Tree(options.into, options.beside)
    for path in _wanted(patterns):
        tree.add(path)
    tree.add_libraries()
    if options.beside is None:
        _furnish(options.into)
    _precompile(options.into)
    about = options.into / "etc/cuda-grader"
    about.mkdir(parents=True, exist_ok=True)
    roots = [root for root in (options.into, options.beside) if root]
    _normalise(options.into)
    (about / "contents").write_text(f"{digest(roots)}\n")
    (about / "packages").write_text(_output_of(["dpkg-query", "--show"]))
    _normalise(options.into)


def _lines(file: Path) -> list[str]:
    lines = (line.strip() for line in file.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _wanted(patterns: list[str]) -> list[Path]:
    """Every file and link of this root that the patterns ask for."""
    paths = []
    for folder_name in PLACES:
        for folder, folders, files in os.walk(folder_name):
            links = [name for name in folders if Path(folder, name).is_symlink()]
            paths += [Path(folder, name) for name in (*files, *links)]
    return [path for path in sorted(paths) if _asked_for(str(path), patterns)]


def _asked_for(path: str, patterns: list[str]) -> bool:
    """True if the last pattern that fits ``path``, or a folder above it, asks for it."""
    for pattern in reversed(patterns):
        bare = pattern.removeprefix("-")
        if fnmatchcase(path, bare) or fnmatchcase(path, f"{bare}/*"):
            return bare == pattern
    return False


class Tree:
    """A root in the making."""

    def __init__(self, root: Path, earlier: Path | None) -> None:
        self._root, self._earlier = root, earlier
        self._programs: set[Path] = set()

    def add(self, path: Path) -> None:
        """Copy a file under its real name; a link with all that it leads to."""
        real = path.parent.resolve() / path.name
        if self._has(real):
            return
        if real.is_symlink():
            self._place(real)
            self.add(real.parent / real.readlink())
        elif real.is_dir():
            for entry in real.rglob("*"):
                if not entry.is_dir() or entry.is_symlink():
                    self.add(entry)
        else:
            self._place(real)
            if _is_program(real):
                self._programs.add(real)

    def add_libraries(self) -> None:
        """Copy the libraries that the programs name, and those that these name in turn (`ldd` follows)."""
        for program in sorted(self._programs):
            for line in _output_of(["ldd", str(program)]).splitlines():
                name, _, target = line.strip().partition(" => ")
                library = re.match(r"(/\S+)", target or name)
                if library:
                    self.add(Path(library[1]))
                elif "not found" in target and not (_beside(program, name) or NOT_OURS.fullmatch(name)):
                    raise SystemExit(f"{program} needs {name}, which is not there")

    def _has(self, path: Path) -> bool:
        inside = path.relative_to("/")
        return any(os.path.lexists(root / inside) for root in (self._root, self._earlier) if root)

    def _place(self, path: Path) -> None:
        target = self._root / path.relative_to("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)


def _beside(program: Path, name: str) -> bool:
    """True if a library lies beside what names it, where it is found by who loads both."""
    return (program.parent / name).exists()


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF" and path.suffix not in (".o", ".a")


def _output_of(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def _furnish(root: Path) -> None:
    """The usual folders and links, the user, and the cache of libraries."""
    for name, where in LINKS.items():
        (root / name).symlink_to(where)
    for name in FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (root / name).write_text(text)
    (root / "opt/cuda/lib64").symlink_to("lib")  # where nvcc looks for libraries
    subprocess.run(["/sbin/ldconfig", "-X", "-r", str(root)], check=True)


def _precompile(root: Path) -> None:
    """Python's byte code, in the form that does not depend on a file's time."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for folder in sorted({source.parent for source in root.rglob("*.py")}):
        compileall.compile_dir(
            folder, maxlevels=0, quiet=2, force=True, stripdir=str(root), invalidation_mode=mode
        )


def _normalise(root: Path) -> None:
    """Give every file the same time and owner, and a plain mode: the same content makes the same image."""
    then = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    for path in (*root.rglob("*"), root):
        about = path.lstat()
        os.chown(path, 0, 0, follow_symlinks=False)
        if stat.S_ISREG(about.st_mode):
            path.chmod(0o755 if about.st_mode & 0o100 else 0o644)
        elif stat.S_ISDIR(about.st_mode):
            path.chmod(FOLDERS.get(str(path.relative_to(root)), 0o755))
    for path in (*root.rglob("*"), root):
        os.utime(path, (then, then), follow_symlinks=False)


if __name__ == "__main__":
    main()
