"""Cache folder of builds: builds by digest, and answers of a toolchain, so that it is not asked twice.

The same file is compiled once. The digest counts our own code in: a new version never takes up what an older
one made of a file.

An entry is two lines, a checksum and the build as JSON, and after them the bytes of a program where it is
one. Entries appear whole or not at all; one that cannot be read, or does not match its checksum, is as good
as none. A folder that cannot be written is left alone: grading goes on without.

Asking nvcc and g++ what they would do starts eight processes, a fifteenth of a check. What they answered
counts while every program that was asked or will be run, and the profile that nvcc reads, is as large and as
old as it was, and while no folder for headers came or went. Without a disassembler nothing is kept: a user
may install one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import marshal
import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import astuple, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.data_files import caches_folder, data_root, headers_folder
from grader.model import Build, FunctionInterface, ProgramInterface
from grader.model.codec import decode, encode
from grader.toolchain.nvcc.toolchain import ARCHITECTURE, Toolchain, find_programs, find_toolchain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import KernelInterface, Submission
    from grader.toolchain.sandbox import Limits


def builds_folder() -> Path | None:
    """The folder that this user's builds are kept in; None where nothing can be kept."""
    caches = caches_folder()
    return None if caches is None else caches / "builds"


@cache
def builder_digest() -> str:
    """The SHA-256 of what builds: this package, the records, what programs are linked with or include."""
    package = Path(__file__).parent
    return digest_of_folders(
        package, package.parents[1] / "model", data_root() / "sandbox" / "runtime", headers_folder()
    )


def digest_of_folders(*folders: Path) -> str:
    """SHA-256 of all files in some folders, not below them."""
    files = [file for folder in folders for file in folder.iterdir() if file.is_file()]
    parts = sorted((file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in files)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def digest(
    submission: Submission,
    interface: KernelInterface | ProgramInterface | FunctionInterface,
    toolchain: Toolchain,
    limits: Limits,
    architecture: str = "",
) -> str:
    """The SHA-256 of everything that a build depends on; ``architecture`` is what a program is made for."""
    parts = [
        ("made by", builder_digest()),
        ("toolchain", (toolchain.version, toolchain.host_version, toolchain.compile, toolchain.preprocess)),
        ("limits", limits),
        ("file", submission.file),
        ("source", hashlib.sha256(submission.source).hexdigest()),
        ("headers", sorted((name, hashlib.sha256(text).hexdigest()) for name, text in submission.headers)),
        ("include", sorted(interface.include)),
        *interface.decides_build(architecture),
    ]
    return hashlib.sha256(repr(parts).encode(errors="backslashreplace")).hexdigest()


def load(folder: Path, key: str) -> Build | None:
    """The stored build, or None."""
    body = read_entry(_path(folder, key))
    if body is None:
        return None
    record, _, program = body.partition(b"\n")
    try:
        build: Build = decode(Build, json.loads(record))
    except (ValueError, RecursionError):
        return None
    return replace(build, program=program)


def store(folder: Path, key: str, build: Build) -> None:
    """Keep a build; where the folder cannot be written, do nothing."""
    record = json.dumps(encode(replace(build, program=b"")))
    write_entry(_path(folder, key), record.encode() + b"\n" + build.program)


def read_entry(path: Path) -> bytes | None:
    """Contents of an entry beside its checksum; None where there is none that is whole."""
    try:
        checksum, _, body = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return body if hashlib.sha256(body).hexdigest().encode() == checksum else None


def is_writable(folder: Path) -> bool:
    """True if entries can be made in a folder, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def write_entry(path: Path, body: bytes) -> None:
    """Make an entry, whole or not at all; where the folder cannot be written, do nothing."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            os.replace(temporary, path)  # noqa: PTH105 - both are texts from `tempfile`
        except OSError:
            os.unlink(temporary)  # noqa: PTH108


def states_of(files: Iterable[str]) -> list[tuple[str, int, int]]:
    """The size and the time of change of each file; 0 for what is not there."""
    states = []
    for name in files:
        try:
            about = os.stat(name)  # noqa: PTH116 - of hundreds of headers, for each unit
            states.append((name, about.st_size, about.st_mtime_ns))
        except OSError:
            states.append((name, 0, 0))
    return states


@contextmanager
def entry_lock(path: Path) -> Iterator[None]:
    """Hold the lock of an entry that takes seconds to make: after waiting for it the entry exists.

    Where the folder cannot be written or locked, each makes its own.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(path.with_suffix(".lock").open("wb")), fcntl.LOCK_EX)
        yield


def _path(folder: Path, key: str) -> Path:
    return folder / key[:2] / f"{key}.json"


def cached_toolchain(
    cache: Path | None, explicit: str | None = None, architecture: str = ARCHITECTURE
) -> Toolchain:
    """`find_toolchain`, whose answers are kept in the folder ``cache``; raises ToolMissing as it does."""
    if cache is None:
        return find_toolchain(explicit, architecture)
    nvcc, compiler = find_programs(explicit)
    path = _toolchain_path(cache, nvcc, compiler, architecture)
    stored = read_entry(path)
    if stored is not None:
        states, values = marshal.loads(stored)  # noqa: S302 - our own, with its checksum
        toolchain = Toolchain(Path(values[0]), *values[1:])
        if states == _states(toolchain):
            return toolchain
    toolchain = find_toolchain(explicit, architecture)
    if toolchain.nvdisasm:
        values = (str(toolchain.nvcc), *astuple(toolchain)[1:])
        write_entry(path, marshal.dumps((_states(toolchain), values)))
    return toolchain


def _toolchain_path(cache: Path, nvcc: Path, compiler: Path, architecture: str) -> Path:
    names = [field.name for field in fields(Toolchain)]
    search = os.environ.get("PATH", os.defpath)
    parts = (builder_digest(), sys.version, names, str(nvcc), str(compiler), architecture, search)
    return cache / "toolchains" / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.toolchain"


def _states(toolchain: Toolchain) -> tuple[list[tuple[str, int, int]], list[str]]:
    """The programs' sizes and times of change, and which folders for headers there are."""
    folders = (*toolchain.roots, *toolchain.absent)
    return states_of(_programs(toolchain)), [folder for folder in folders if Path(folder).is_dir()]


def _programs(toolchain: Toolchain) -> Iterator[str]:
    """Programs that are asked or run, and files that nvcc reads before it answers."""
    yield from (str(toolchain.nvcc), str(toolchain.nvcc.parent / "nvcc.profile"), toolchain.host_compiler)
    yield from (toolchain.compile[0], toolchain.ptxas, toolchain.nvdisasm)
