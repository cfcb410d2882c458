"""Estimates of staff's kernels in the folder of builds, so that not every check makes them again.

The digest of an entry counts the model's own code in: a new version takes up nothing of an older one.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

from grader import __version__
from grader.model import KernelEstimate
from grader.model.codec import decode, encode
from grader.simulation.native.sources import digest as native_digest
from grader.toolchain.nvcc.cache import builder_digest, digest_of_folders, read_entry, write_entry


@cache
def _modelled_by() -> str:
    """The version, and the SHA-256 of what estimates.

    That is the model, what makes machine code and what runs it, and what records the calls of a function.
    """
    package = Path(__file__).parents[2]
    memory, device = "simulation/emulator/memory", "running/device"
    folders = ("running/estimate", "simulation/sass", memory, device, "kinds/function")
    digests = digest_of_folders(*(package / name for name in folders)), builder_digest(), native_digest()
    return " ".join((__version__, *digests))


def entry_for(folder: Path, parts: tuple[object, ...]) -> Path:
    """The file for the estimate that ``parts`` decide, which are made of texts and numbers."""
    key = hashlib.sha256(repr((_modelled_by(), parts)).encode()).hexdigest()
    return folder / "estimates" / key[:2] / f"{key}.json"


def load(path: Path) -> KernelEstimate | None:
    """The estimate that is kept, or None."""
    body = read_entry(path)
    if body is None:
        return None
    try:
        estimate: KernelEstimate = decode(KernelEstimate, json.loads(body))
    except (ValueError, RecursionError):
        return None
    return estimate


def store(path: Path, estimate: KernelEstimate) -> None:
    """Keep an estimate; where the folder cannot be written, do nothing."""
    write_entry(path, json.dumps(encode(estimate)).encode())
