"""Sources of Dask's scheduler: this process, jobs of Slurm, or one that runs already."""

from __future__ import annotations

import logging
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.base.errors import StorageError, ToolMissing, UsageError
from grader.base.records import frozen
from grader.base.text import count, escaped
from grader.classroom.cluster.address import ANSWERING, must_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from distributed import Client, Security

LOCAL, SLURM = "local", "slurm"

HOW_TO_GET_DASK = "get what it takes with `pip install distributed dask-jobqueue cryptography bokeh`"

_HERE_ALONE = "127.0.0.1:0"
"""Address of the pages, which Dask otherwise serves without encryption to all who can reach the machine."""

_SHARED = ".cluster-"
_GIB_PER_SUBMISSION = 2


@frozen
class Cluster:
    """A scheduler that answers.

    ``wanted`` is how many workers are expected. ``trouble`` says why none will come any more, or nothing;
    ``replace_lost`` has new ones started for those that are gone, where that is ours to do. ``waiting`` says
    what workers wait for that have not come. ``serves_here`` says that its dashboard answers this machine
    alone, and ``draws`` whether it has one.
    """

    client: Client
    wanted: int
    trouble: Callable[[], str]
    replace_lost: Callable[[], object] = lambda: None
    waiting: Callable[[], str] = str
    serves_here: bool = False
    draws: bool = True

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard; empty where there is none, or what draws it is not installed."""
        if not self.draws or find_spec("bokeh") is None:
            return ""
        if self.serves_here:
            return f"http://127.0.0.1:{self.client.scheduler_info()['services']['dashboard']}/status"
        return str(self.client.dashboard_link or "")


@contextmanager
def scheduler(where: str, *, nodes: int, jobs: int, folder: Path) -> Iterator[Cluster]:
    """The cluster that ``--cluster`` names, with ``nodes`` jobs of ``jobs`` submissions at a time for Slurm.

    ``folder`` is one that all nodes of Slurm see. Raises UsageError in one sentence.
    """
    import dask  # noqa: PLC0415 - an extra
    import distributed  # noqa: F401, PLC0415 - loaded here, or its defaults would go again with what is set

    # Dask's profile is not read, for which it would wake up a hundred times a second.
    ours = {
        "distributed.admin.low-level-log-length": 100,
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.admin.tick.interval": "1s",
        "distributed.worker.memory.monitor-interval": "1s",
        "distributed.worker.profile.enabled": False,
    }
    for name in ("distributed", "distributed.client", "asyncio"):  # what matters is said in our own words
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with dask.config.set(ours), _SCHEDULERS.get(where, _running)(where, nodes, jobs, folder) as cluster:
        yield cluster


def must_be_installed(where: str) -> None:
    """Raise ToolMissing where a package is not here that this kind of cluster takes."""
    if find_spec("distributed") is None:
        raise ToolMissing(f"--cluster {where}: the package `distributed` is not installed; {HOW_TO_GET_DASK}")
    if where == SLURM and find_spec("dask_jobqueue") is None:
        raise ToolMissing(
            f"--cluster {where}: the package `dask-jobqueue` is not installed; {HOW_TO_GET_DASK}"
        )


@contextmanager
def _local(_where: str, _nodes: int, jobs: int, _folder: Path) -> Iterator[Cluster]:
    """A scheduler and a worker in this process, which talk through memory, without Dask's dashboard.

    Loading what draws that takes nearly half a second. What is left of its pages answers this machine alone.
    """
    from distributed import Client, Scheduler, SpecCluster, Worker  # noqa: PLC0415 - an extra

    options = {"protocol": "inproc://", "dashboard": False, "dashboard_address": _HERE_ALONE}
    worker = {"cls": Worker, "options": options | {"nthreads": jobs}}
    with (
        SpecCluster(
            workers={0: worker}, scheduler={"cls": Scheduler, "options": options}, silence_logs="critical"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield Cluster(client, 1, str, draws=False)


@contextmanager
def _running(where: str, _nodes: int, _jobs: int, _folder: Path) -> Iterator[Cluster]:
    """A scheduler that another user started, with the workers that it has."""
    from distributed import Client  # noqa: PLC0415 - an extra

    must_answer(where)
    try:
        client = Client(where, timeout=ANSWERING)
    except (OSError, TimeoutError, ValueError, RuntimeError) as problem:
        raise UsageError(
            f"--cluster {escaped(where, 100)}: no scheduler answers there any more ({_short(problem)})"
        ) from None
    with client:
        workers = client.nthreads()
        start = f"dask worker --no-nanny {escaped(where, 100)}"
        hint = f"the scheduler at {escaped(where, 100)} has no worker; start one on each node: `{start}`"
        yield Cluster(client, max(1, len(workers)), lambda: "" if client.nthreads() else hint)


@contextmanager
def _slurm(where: str, nodes: int, jobs: int, folder: Path) -> Iterator[Cluster]:
    """Jobs of Slurm that each run a worker; their certificates and output lie in a folder that they share."""
    from distributed import Client  # noqa: PLC0415 - an extra

    if shutil.which("sbatch") is None:
        raise UsageError(f"--cluster {where}: there is no Slurm here, for there is no `sbatch`")
    before = signal.getsignal(signal.SIGINT)
    from dask_jobqueue import SLURMCluster  # noqa: PLC0415 - an extra
    from dask_jobqueue.slurm import SLURMJob  # noqa: PLC0415 - an extra

    signal.signal(signal.SIGINT, before)  # that module takes Ctrl-C for the wish to exit with 0
    with shared_folder(folder) as shared:
        try:
            cluster = SLURMCluster(
                **_slurm_options(jobs, shared), job_cls=_noting_refusal(SLURMJob), security=_certified(shared)
            )
        except (OSError, ValueError) as problem:
            raise UsageError(f"--cluster {where}: {_short(problem)}") from None
        with cluster, Client(cluster) as client:
            cluster.scale(jobs=nodes)
            yield Cluster(
                client,
                nodes,
                lambda: _why_no_job_runs(cluster, shared),
                lambda: cluster.scale(jobs=nodes),
                lambda: _why_jobs_wait(cluster),
                serves_here=not _configured("scheduler-options"),
            )


def _noting_refusal(job: Any) -> type:  # noqa: ANN401 - a class of an extra without types
    """The class of a job that keeps as ``refusal`` why it was not taken, which Dask does not say."""

    class NotingJob(job):  # type: ignore[misc]
        refusal = ""

        async def start(self) -> None:
            try:
                await super().start()
            except (OSError, RuntimeError, ValueError) as problem:
                self.refusal = _short(str(problem).rpartition("stderr:")[2].replace("sbatch: error: ", ""))
                raise

    return NotingJob


def _certified(shared: Path) -> Security:
    """A certificate for this class alone: no other process can talk to its scheduler or its workers."""
    from distributed import Security  # noqa: PLC0415 - an extra

    temporary = Security.temporary().get_tls_config_for_role("worker")
    files = {}
    for name in ("ca_file", "cert", "key"):
        path = shared / f"{name}.pem"
        path.touch(mode=0o600)
        path.write_text(temporary[name], encoding="ascii")
        files[name] = str(path)
    roles = {
        f"tls_{role}_{name}": files[name]
        for role in ("client", "scheduler", "worker")
        for name in ("cert", "key")
    }
    return Security(require_encryption=True, tls_ca_file=files["ca_file"], **roles)


@contextmanager
def shared_folder(folder: Path) -> Iterator[Path]:
    """A folder for this user alone, gone afterwards, as is what a batch left that was killed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_SHARED}*"):
            shutil.rmtree(left, ignore_errors=True)
        temporary = tempfile.TemporaryDirectory(prefix=_SHARED, dir=folder, ignore_cleanup_errors=True)
    except OSError as problem:
        raise StorageError(f"{folder}: cannot be written: {problem.strerror}") from None
    with temporary as name:
        yield Path(name).resolve()


def _slurm_options(jobs: int, shared: Path) -> dict[str, Any]:
    """Options of a job; what the user's own configuration of dask-jobqueue says comes first."""
    ours = {
        "cores": jobs,
        "memory": f"{jobs * _GIB_PER_SUBMISSION} GiB",
        "scheduler-options": {"dashboard_address": _HERE_ALONE},
        "worker-extra-args": ["--dashboard-address", _HERE_ALONE],
    }
    return {
        **{name.replace("-", "_"): _configured(name) or value for name, value in ours.items()},
        "processes": 1,
        "nanny": False,
        "python": f"{sys.executable} -P",  # a job works in the folder that it was submitted from
        "job_name": "grader",
        "log_directory": str(shared),
        "silence_logs": "critical",
    }


def _configured(name: str) -> Any:  # noqa: ANN401 - any configured value
    """User's configuration of dask-jobqueue for jobs of Slurm; None or empty where there is none."""
    import dask  # noqa: PLC0415 - an extra

    return dask.config.get(f"jobqueue.slurm.{name}", None)


def _why_no_job_runs(cluster: Any, shared: Path) -> str:  # noqa: ANN401 - a class of an extra without types
    """Nothing while jobs of ours wait or run; else what the last one printed, or why there is none."""
    ids = _jobs(cluster)
    if not ids:
        refusals = sorted({job.refusal for job in cluster.workers.values() if job.refusal})
        asked = "what a job asks for is -j and what ~/.config/dask/jobqueue.yaml says"
        return f"--cluster slurm: `sbatch` refused a job: {refusals[0]}; {asked}" if refusals else ""
    queue = _queue()
    if queue is None or ids & set(queue):
        return ""
    return f"the jobs of Slurm ended without a worker; the last output of one: {_last_line(shared)}"


def _why_jobs_wait(cluster: Any) -> str:  # noqa: ANN401 - a class of an extra without types
    """Number of our jobs that wait, and what Slurm says they wait for; empty while none does."""
    queue = _queue("PENDING") or {}
    waiting = [queue[job] for job in _jobs(cluster) if job in queue]
    reasons = escaped(", ".join(sorted(set(waiting))), 100)
    return f"{count(len(waiting), 'job')} in the queue of Slurm ({reasons})" if waiting else ""


def _jobs(cluster: Any) -> set[str]:  # noqa: ANN401 - a class of an extra without types
    return {str(job.job_id) for job in cluster.workers.values() if getattr(job, "job_id", None)}


def _queue(*states: str) -> dict[str, str] | None:
    """Jobs of this user in some states, or all that are not over, with why each waits; None where unknown."""
    chosen = ("--states", *states) if states else ()
    command = (shutil.which("squeue") or "squeue", "--noheader", "--me", *chosen, "--format", "%i %r")
    with suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if listed.returncode == 0:
            return {job: why for job, _, why in (line.partition(" ") for line in listed.stdout.splitlines())}
    return None


def _last_line(folder: Path) -> str:
    for path in sorted(folder.glob("*.out"), reverse=True):
        with suppress(OSError):
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
            if last := next((line.strip() for line in reversed(lines) if line.strip()), ""):
                return escaped(last, 300)
    return "none: is the folder of -o one that the nodes share?"


def _short(problem: BaseException | str) -> str:
    return escaped(" ".join(str(problem).split()) or type(problem).__name__, 200)


_SCHEDULERS = {LOCAL: _local, SLURM: _slurm}
