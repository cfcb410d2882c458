"""An assignment's YAML → `Assignment`, checked as a whole.

`document` turns YAML into a tree with positions, `fields` and `program_fields` say what the texts at its
leaves mean, `structure`, `questions` and `rubric` which keys there are (those of rubric items come from
`grader.grading.checks`), and `schema` which of them a kind of submission has, for editors, too. `draft` keeps
the parts that are sound and says what is wrong with the others; `launching` and `cross_checks` look at what
must hold between parts; `feedback` has texts about mistakes; `load` puts it all together and makes the frozen
records. `execution` says what of it all is run, `bundled` knows where assignments and references are, and
`handout` what students may have of them.

A sound assignment is kept, so that reading it again takes no time: checking one takes a third of a second,
mostly to load what checks it, too long for a student who does so every minute. An entry holds the assignment
and a fingerprint of every file it came from; if one of them has changed, or anything at all is odd, the
assignment is read anew. Entries are pickles, and therefore read only where no one but this user can have
written them.
"""

from __future__ import annotations

import os
import pickle
import stat
import sys
import tempfile
from contextlib import suppress
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from grader import __version__, model
from grader.grading.assignment.bundled import (
    bundled_ids,
    find_assignment,
    recorded_counters,
    recorded_estimates,
    reference_folder,
    staff_folder,
    staff_kernel,
)
from grader.grading.assignment.execution import draw_seed, execution_digests, expand_cases, wanted_files
from grader.model import Assignment

__all__ = [
    "bundled_ids",
    "draw_seed",
    "execution_digests",
    "expand_cases",
    "find_assignment",
    "load_assignment",
    "recorded_counters",
    "recorded_estimates",
    "reference_folder",
    "staff_folder",
    "staff_kernel",
    "wanted_files",
]

RECORDS = sha256(
    repr(
        sorted(
            (name, [field.name for field in fields(record)])
            for name, record in vars(model).items()
            if is_dataclass(record)
        )
    ).encode()
).hexdigest()
"""Digest of the records' fields: an entry from before a change would come back with holes."""

Fingerprint: TypeAlias = tuple[tuple[str, str], ...]


def load_assignment(path: Path, cache: Path | None = None) -> Assignment:
    """The assignment in the folder or file ``path``; raises `SpecError` with every problem there is.

    Each problem is one line, ``file:line:column: dotted.path: message``. A sound assignment is kept in the
    folder ``cache``, and comes from there as long as none of its files changes.
    """
    assignment = recall(path, cache) if cache else None
    if assignment is not None:
        return assignment
    # Pydantic takes a fifth of a second to import: commands that read no assignment do without.
    from grader.grading.assignment import load  # noqa: PLC0415

    assignment = load.load_assignment(path)
    if cache:
        remember(path, assignment, cache)
    return assignment


def recall(file: Path, cache: Path) -> Assignment | None:
    """The assignment that ``file`` gave before, if nothing it came from has changed since."""
    entry = _entry(file, cache)
    with suppress(
        OSError, pickle.UnpicklingError, ValueError, TypeError, EOFError, AttributeError, ImportError
    ):
        if _is_ours(entry):
            fingerprint, assignment = pickle.loads(entry.read_bytes())  # noqa: S301 - written by this user, see above
            if isinstance(assignment, Assignment) and fingerprint == _fingerprint(assignment):
                return assignment
    return None


def remember(file: Path, assignment: Assignment, cache: Path) -> None:
    """Keep an assignment; where the folder cannot be written, do nothing."""
    entry = _entry(file, cache)
    with suppress(OSError):
        entry.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, part = tempfile.mkstemp(dir=entry.parent)  # readable and writable by this user alone
        with os.fdopen(descriptor, "wb") as stream:
            pickle.dump((_fingerprint(assignment), assignment), stream)
        Path(part).replace(entry)


def _entry(file: Path, cache: Path) -> Path:
    identity = f"{__version__}\0{RECORDS}\0{sys.version}\0{file.resolve()}".encode(errors="surrogateescape")
    return cache / f"{sha256(identity).hexdigest()}.pickle"


def _is_ours(entry: Path) -> bool:
    status = entry.lstat()
    writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not writable_by_others


def _fingerprint(assignment: Assignment) -> Fingerprint:
    """Every file beside the assignment and in its reference, with a digest of its content."""
    reference = (reference_folder(assignment),) if assignment.reference else ()
    folders = (assignment.path, *reference)
    return tuple(
        (str(file), sha256(file.read_bytes()).hexdigest())
        for folder in folders
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    )
