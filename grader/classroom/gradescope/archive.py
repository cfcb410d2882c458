"""The zip that staff upload to Gradescope: the grader, an assignment with the staff's files, two scripts.

    setup.sh, run_autograder    what Gradescope starts
    harness.json                the assignment's id, the seed of its inputs, and how long grading may take
    requirements.txt            the packages that the grader needs, pinned
    program/                    the grader as it is here, readable by all users
    assignments/, reference/    for root alone

The same assignment, seed and grader give the same bytes. Packages are pinned to the versions that are
installed here: what staff tried an assignment with is what grades it elsewhere, and a new release changes
nothing by itself.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

import grader
from grader.base.data_files import data_root, package_data
from grader.base.errors import OurError, UsageError
from grader.classroom.gradescope.run import HARNESS
from grader.grading.assignment.bundled import locate_reference, reference_folder
from grader.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import Assignment

SCRIPTS = ("setup.sh", "run_autograder")

COMPILED = "__pycache__"
ATTACKS, MISTAKES = "attacks", "mistakes"
"""Folders of `sandbox/` and of `reference/` that grading needs nothing of."""

_DATE = (2026, 1, 1, 0, 0, 0)
_FILE, _PROGRAM = 0o100644, 0o100755


def archive(assignment: Assignment, seed: int, seconds: float) -> bytes:
    """The zip of an assignment, whose inputs are drawn from ``seed``; each grading may take ``seconds``.

    Raises UsageError for an assignment that nothing is compiled for: only a roster shows whose a sheet of
    answers is.
    """
    if not kind_of(assignment).compiles:
        raise UsageError(
            f"`{assignment.id}` asks questions with everybody's own numbers, and Gradescope does not tell "
            "whose they are; grade its export with `grader grade` and a roster instead"
        )
    files = dict(_files(assignment))
    about = {"assignment": assignment.id, "seed": seed, "seconds": seconds}
    files[HARNESS] = (json.dumps(about, indent=1) + "\n").encode()
    files["requirements.txt"] = pinned(("nvcc",)).encode()
    return _zip(files)


def _files(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    program = Path(grader.__file__).resolve().parent
    for name in SCRIPTS:
        yield name, (program / "classroom" / "gradescope" / "scripts" / name).read_bytes()
    for name, content in _below(program):
        if not name.startswith(("_data/assignments/", "_data/reference/")):
            yield f"program/grader/{name}", content
    if not package_data().is_dir():
        for name, content in _below(data_root() / "sandbox", ATTACKS):
            yield f"program/sandbox/{name}", content
    for name, content in _below(assignment.path):
        yield f"assignments/{assignment.id}/{name}", content
    for folder in _staffs(assignment):
        for name, content in _below(folder, MISTAKES):
            yield f"reference/{folder.name}/{name}", content


def _staffs(assignment: Assignment) -> Iterator[Path]:
    """The folders in ``reference/`` of the assignment's operation, or its own where it names none."""
    if assignment.reference:
        yield reference_folder(assignment)
    elif folder := locate_reference(assignment.id, assignment.path):
        yield folder


def _below(folder: Path, left_out: str = COMPILED) -> Iterator[tuple[str, bytes]]:
    """The files of a folder by their paths in it, except files of one name; hidden ones belong to tools.

    Nor libraries that were compiled on this machine.
    """
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_left_out = path.suffix == ".so" or not {COMPILED, left_out}.isdisjoint(name.parts)
        if path.is_file() and not is_left_out and not _is_hidden(name):
            yield name.as_posix(), path.read_bytes()


def _is_hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)


def _zip(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (_PROGRAM if name in SCRIPTS else _FILE) << 16
            target.writestr(entry, files[name])
    return content.getvalue()


PACKAGE = "cuda-grader"


def requirements(extras: Iterable[str]) -> list[Requirement]:
    """Packages that the grader with these extras requires, directly or not, here and with this Python.

    Raises OurError where the grader itself is not installed; any other package that is not installed has no
    requirements.
    """
    pending = [(PACKAGE, frozenset(extras))]
    visited: set[tuple[str, frozenset[str]]] = set()
    collected: list[Requirement] = []
    while pending:
        name, extras_of_it = pending.pop()
        if (name, extras_of_it) not in visited:
            visited.add((name, extras_of_it))
            direct = list(_direct(name, extras_of_it))
            collected += direct
            pending += [(normal_name(item.name), frozenset(item.extras)) for item in direct]
    return collected


def pinned(extras: Iterable[str]) -> str:
    """The text of a requirements file; of what is not installed here it says what is asked for."""
    by_name = {normal_name(item.name): item for item in requirements(extras)}
    return "".join(f"{name}{_version(name) or by_name[name].specifier}\n" for name in sorted(by_name))


def normal_name(name: str) -> str:
    """The name of a package as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _version(name: str) -> str:
    try:
        return f"=={distribution(name).version}"
    except PackageNotFoundError:
        return ""


def _direct(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    try:
        texts = distribution(name).requires or ()
    except PackageNotFoundError:
        if name == PACKAGE:
            raise OurError("the grader is not installed, so its requirements are unknown") from None
        return
    for text in texts:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            yield requirement
