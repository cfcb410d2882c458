"""Launches that come after the harness has begun, which makes its context while they are still prepared.

The request names an archive outside the job's folder; it is whole as soon as it is there (as
`grader.toolchain.gpu.tool_batches.packed` writes it).
"""

from __future__ import annotations

import json
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks import Job

LISTED = "launches.json"
"""The member of the archive that lists kernels and cases; all others are files that they name."""

_POLL = 0.005


def job_with_launches(job: Job) -> Job:
    """The job with the launches that it awaits; the same job where it awaits none.

    Raises TimeoutError where they do not come in time: they may not be needed any more.
    """
    if not job.request["awaits"]:
        return job
    archive = Path(job.request["awaits"])
    begun = time.monotonic()
    while not archive.exists():
        if time.monotonic() - begun > job.seconds("await"):
            raise TimeoutError("the launches that the harness was started for never came")
        time.sleep(_POLL)
    with zipfile.ZipFile(archive) as file:
        kernels, cases = json.loads(file.read(LISTED))
        file.extractall(job.folder)
    return replace(job, request=job.request | {"kernels": kernels, "cases": cases})
