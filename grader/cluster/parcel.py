"""An assignment with the staff's files, as it travels to a node that sees none of our folders."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from grader.assignment import load_assignment
from grader.assignment.bundled import locate_reference
from grader.errors import GraderError, OurError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import Assignment, Named


@dataclass(frozen=True, slots=True)
class Parcel:
    """An assignment by the path that it has here, its digest, and ``files`` by path below a common root.

    ``name`` is the path of the assignment below that root.
    """

    path: str
    name: str
    digest: str
    files: Named[bytes]


def packed(given: Path, assignment: Assignment) -> Parcel:
    """The parcel of an assignment that was loaded from ``given``, its folder or its file."""
    folder = assignment.path
    name = PurePosixPath("assignments", folder.name)
    references = (locate_reference(named, folder) for named in (assignment.reference, assignment.id))
    files = list(_files(folder, name))
    for reference in dict.fromkeys(found for found in references if found is not None):
        files += _files(reference, PurePosixPath("reference", reference.name))
    named = name / given.name if given.is_file() else name
    return Parcel(str(given.resolve()), str(named), assignment.digest, tuple(dict(files).items()))


def _files(folder: Path, name: PurePosixPath) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if path.is_file() and "__pycache__" not in inside.parts:
            yield str(name / PurePosixPath(*inside.parts)), path.read_bytes()


def unpacked(parcel: Parcel) -> tuple[Assignment, tempfile.TemporaryDirectory[str] | None]:
    """The assignment on this machine: where the same lies at the same path, else out of the parcel.

    In that case with the temporary folder that it lies in. Raises StorageError where that cannot be written,
    and OurError where what was loaded is not what was packed.
    """
    with suppress(GraderError, OSError):
        shared = load_assignment(Path(parcel.path))
        if shared.digest == parcel.digest:
            return shared, None
    with ExitStack() as on_failure:
        try:
            folder = tempfile.TemporaryDirectory(prefix="grader-assignment-")
            on_failure.callback(folder.cleanup)
            for name, content in parcel.files:
                path = Path(folder.name, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        except OSError as problem:
            raise StorageError(f"the assignment cannot be written here: {problem.strerror}") from None
        assignment = load_assignment(Path(folder.name, parcel.name))
        if assignment.digest != parcel.digest:
            raise OurError("the assignment that came here is another one than was sent")
        on_failure.pop_all()
    return assignment, folder
