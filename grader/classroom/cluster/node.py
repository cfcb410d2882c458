"""Code that runs on a node, in a worker of Dask: it proves itself, then grades in processes.

Nothing of a student's runs in the worker itself. What a node needs comes once, with the proof that is asked
of it, and stays until the worker ends: an assignment with the staff's files in a `Parcel`, for it sees none
of our folders; a submission names it by its key.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from dataclasses import field
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from distributed import Worker, WorkerPlugin, get_worker

import grader
from grader.base.errors import GraderError, OurError, StorageError
from grader.base.records import frozen, mutable
from grader.classroom.batch.executor import (
    CPU_SECONDS,
    PATIENCE_SECONDS,
    BatchSetting,
    Graded,
    forkserver,
    isolated,
    loaded_for,
    setting_of,
)
from grader.grading.assignment import load_assignment
from grader.grading.assignment.bundled import locate_reference
from grader.kinds import pipeline
from grader.running import backends
from grader.toolchain import sandbox_choice
from grader.toolchain.nvcc.cache import builds_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.context import ForkServerContext
    from tempfile import TemporaryDirectory

    from grader.kinds.pipeline import Plan
    from grader.model import Assignment, Named, Submission
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

DAEMON = (
    "its process was started as a daemon, which may start no others; start it with `dask worker --no-nanny` "
    "or with DASK_DISTRIBUTED__WORKER__DAEMON=False"
)


@frozen
class GradingRequest:
    """Request to grade a class: what is asked of every node.

    ``number`` is the number of submissions, and ``trusted`` whether their files may be run with nothing
    around them. ``versions`` are those of the machine that asks. ``key`` names the request.
    """

    key: str
    parcel: Parcel
    number: int
    trusted: bool
    backend: str
    races: str
    sandbox: str
    nvcc: str | None
    keeps_builds: bool
    versions: Named[str]


@frozen
class Proof:
    """Properties of a node; ``problem`` says why nothing can be graded on it."""

    host: str
    setting: BatchSetting | None = None
    sandbox: str = ""
    problem: str = ""


END_REQUEST = "grader-told-to-end"
"""The topic of Dask's events under which a worker leaves its address when it is asked to end."""

_NOTICE_SECONDS = 5.0


class EndNotice(WorkerPlugin):  # type: ignore[misc] # a package without types
    """A worker that gets SIGTERM says so before it closes; one that is brought down cannot.

    So a job that is cancelled, preempted or out of time is not held against what it was grading.
    """

    async def teardown(self, worker: Worker) -> None:
        """Leave the worker's address with its scheduler; called by Dask while the worker closes."""
        with suppress(Exception):  # the scheduler may be gone itself
            notice = worker.scheduler.log_event(topic=END_REQUEST, msg=worker.address)
            await asyncio.wait_for(notice, _NOTICE_SECONDS)


@frozen
class Unfit:
    """A node's answer in place of a grade: why it cannot grade this class."""

    problem: str


@mutable
class _Station:
    """State that a worker keeps for a request: its plans by seed."""

    assignment: Assignment
    folder: TemporaryDirectory[str] | None
    tools: Tools
    backend: Backend
    context: ForkServerContext
    plans: dict[int, Plan] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(self, seed: int) -> Plan:
        """The plan of a seed, made once; raises GraderError."""
        with self.lock:
            if seed not in self.plans:
                self.plans[seed] = pipeline.make_plan(
                    self.assignment, seed, self.tools, visible_only=False, backend=self.backend
                )
            return self.plans[seed]


_stations: dict[str, _Station] = {}


def prove(request: GradingRequest) -> Proof:
    """Get ready for a class, and say what this node is or why it cannot grade; raises nothing of ours."""
    host = socket.gethostname()
    try:
        if differing := _other_versions(request.versions):
            return Proof(host, problem=differing)
        if multiprocessing.current_process().daemon:
            return Proof(host, problem=DAEMON)
        station = _station(request)
    except GraderError as problem:
        return Proof(host, problem=str(problem))
    _stations[request.key] = station
    setting = setting_of(station.assignment, station.tools, station.backend)
    return Proof(host, setting, station.tools.sandbox.name)


@cache
def versions() -> Named[str]:
    """Versions that have to be the same on all nodes, with a digest of the grader's own code."""
    package = Path(grader.__file__).parent
    code = sha256()
    for file in sorted(package.rglob("*.py")):
        code.update(file.read_bytes())
    return (*pipeline.versions(), ("grader files", code.hexdigest()[:12]))


def _other_versions(wanted: Named[str]) -> str:
    installed = dict(versions())
    differing = [f"{name} {installed[name]}" for name, version in wanted if installed[name] != version]
    expected = [f"{name} {version}" for name, version in wanted if installed[name] != version]
    if not differing:
        return ""
    return f"it has {', '.join(differing)}; expected {', '.join(expected)}; install the same there"


def _station(request: GradingRequest) -> _Station:
    """Resources that grading needs here, all tried; raises GraderError."""
    gpus, _ = backends.usable_gpus(request.backend)
    assignment, folder = unpacked(request.parcel)
    cache = builds_folder() if request.keeps_builds else None
    tools = sandbox_choice.tools_for(gpus, request.sandbox, request.nvcc, cache, strangers=True)
    sandbox_choice.must_be_trusted(tools.sandbox, request.number, trusted=request.trusted)
    backend, _ = backends.prepare(request.backend, tools, gpus, request.races).tried(tools)
    context = forkserver([*loaded_for(assignment, backend), *_main_module()])
    return _Station(assignment, folder, tools, backend, context)


def _main_module() -> tuple[str, ...]:
    """The module that this program runs: each process imports it anew, unless it is loaded before the fork.

    Programs that are packages (``python -m grader``) are not imported again (`multiprocessing.spawn`).
    """
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return (spec.name,) if spec and not spec.name.endswith("__main__") else ()


def grade(key: str, seed: int, submission: Submission, failure: str = "") -> Graded | Unfit:
    """The grade of a submission, from a process of its own; with a ``failure`` the grade that says it.

    `Unfit` where this worker did not prove itself, or where the staff's own kernels cannot be run.
    """
    station = _stations.get(key)
    if station is None:
        return Unfit("it has not proved itself")
    try:
        plan = station.plan(seed)
    except GraderError as problem:
        return Unfit(str(problem))
    if failure:
        return Graded(pipeline.failed(plan, submission, failure))
    return isolated(station.context, plan, submission, station.tools, (PATIENCE_SECONDS, CPU_SECONDS))


def promise_notice() -> None:
    """Have this worker report when it is asked to end."""
    worker, name = get_worker(), EndNotice.__name__
    if name not in worker.plugins:
        worker.loop.add_callback(worker.plugin_add, plugin=EndNotice(), name=name)


def leave(key: str) -> None:
    """Forget a request, when its class is graded."""
    station = _stations.pop(key, None)
    if station is None:
        return
    sandbox_choice.sweep(station.tools.sandbox)
    if station.folder is not None:
        station.folder.cleanup()


@frozen
class Parcel:
    """An assignment by the path that it has here, its digest, and ``files`` by path below a common root.

    ``name`` is the path of the assignment below that root.
    """

    path: str
    name: str
    digest: str
    files: Named[bytes]


def packed(loaded_from: Path, assignment: Assignment) -> Parcel:
    """The parcel of an assignment that was loaded from ``loaded_from``, its folder or its file."""
    folder = assignment.path
    name = PurePosixPath("assignments", folder.name)
    references = (locate_reference(named, folder) for named in (assignment.reference, assignment.id))
    files = list(_files(folder, name))
    for reference in dict.fromkeys(path for path in references if path is not None):
        files += _files(reference, PurePosixPath("reference", reference.name))
    named = name / loaded_from.name if loaded_from.is_file() else name
    return Parcel(str(loaded_from.resolve()), str(named), assignment.digest, tuple(dict(files).items()))


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
