"""Containers: one for each stage of a submission, shut in as far as the kernel can, and gone afterwards.

Nothing of this machine is in a container but the image. A stage's container sleeps; each job enters it as a
`supervisor` that gets its files by standard input and gives back what it may by standard output.
Output of the supervisor is not believed beyond `exchange`, and what it does not enforce the kernel does, for
the container as a whole: processes, memory, files, CPUs, time.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from docker.errors import APIError

from grader.base.errors import OurError, StorageError, ToolMissing
from grader.base.records import frozen
from grader.toolchain.sandbox import exchange, image
from grader.toolchain.sandbox.containers import configuration, owner_label
from grader.toolchain.sandbox.engine import connect, speaking
from grader.toolchain.sandbox.image import USER
from grader.toolchain.sandbox.job import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import APIClient

    from grader.toolchain.sandbox.image import SandboxImage
    from grader.toolchain.sandbox.job import Equipment, Job, Result

FOLDER = "/job"
WRITABLE = (FOLDER, "/tmp", "/dev/shm")  # noqa: S108 - the container's
PROFILE = "sandbox/seccomp.json"
PATH = "/opt/cuda/bin:/usr/local/bin:/usr/bin:/bin"
OLDEST_SECONDS = 1200
"""Seconds after which a container ends by itself, also where no process is left to end it."""

ANSWER_SECONDS = 120
"""Seconds that the engine may take to make a container; it is slow when much is going on."""

AGAIN_SECONDS = 1.0
"""Seconds to wait before what the engine refused is asked of it again."""

_STDOUT = 1
_FRAME = 8
_ENDED = (404, 409)  # of the engine: there is no such container, or it does not run


@frozen
class DockerSandbox:
    """Runs jobs in containers of one image."""

    image: SandboxImage
    seccomp: str
    """Seccomp profile of ours, as JSON."""
    name: ClassVar[str] = "docker"
    shuts_in: ClassVar[bool] = True

    @property
    def equipment(self) -> Equipment:
        """Paths of programs in the image."""
        return replace(self.image.equipment, image=self.image.id)

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[_InContainer]:
        """A sandbox whose jobs share one container, which is started for the first of them."""
        inside = _InContainer(self, stage)
        try:
            yield inside
        finally:
            inside.close()

    def run(self, job: Job) -> Result:
        """Run ``job`` in a container of its own; raises as `Sandbox.run` says."""
        with self.stage(Stage(job.limits, job.gpu, job.locks)) as inside:
            return inside.run(job)


class _InContainer:
    """The sandbox of one stage. A container that a job has brought down is replaced for the next one."""

    name, shuts_in = DockerSandbox.name, DockerSandbox.shuts_in

    def __init__(self, sandbox: DockerSandbox, stage: Stage) -> None:
        self._sandbox, self._stage = sandbox, stage
        self._container, self._jobs, self._spoilt = "", 0, False
        self._lock = threading.Lock()

    @property
    def equipment(self) -> Equipment:
        """Paths of programs in the image."""
        return self._sandbox.equipment

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[Self]:  # noqa: ARG002 - the outer stage is the stage
        """Sandbox of a stage within a stage: this one, as it shares the container."""
        yield self

    def run(self, job: Job) -> Result:
        """Run ``job`` in the container; raises as `Sandbox.run` says.

        What goes wrong is tried once more, in a new container: a job that ends its supervisor may have been
        one beside it, what fills the folder one before it, and an engine may be busy for a moment.
        """
        began = time.monotonic()
        try:
            return self._tried(job)
        except exchange.CutShort:
            pass
        except ToolMissing:
            raise
        except OurError:
            time.sleep(AGAIN_SECONDS)
        try:
            return self._tried(job)
        except exchange.CutShort:
            return exchange.ended_by_itself(time.monotonic() - began)

    def _tried(self, job: Job) -> Result:
        """A job's result; where it gives none, or leaves something, the container is given up."""
        container = self._started()
        try:
            result, cleared = self._entered(container, job, time.monotonic())
        except OurError:
            self._job_ended(container, cleared=False)
            raise
        except exchange.CutShort:
            self._forget(container)
            raise
        self._job_ended(container, cleared=cleared)
        return result

    def close(self) -> None:
        """Remove the container, if there is one."""
        self._forget(self._container)

    def _started(self) -> str:
        """The stage's container; raises OurError where none can be had."""
        with self._lock, speaking():
            if not self._container:
                self._container, self._jobs, self._spoilt = _start(self._sandbox, self._stage), 0, False
            self._jobs += 1
            return self._container

    def _job_ended(self, container: str, *, cleared: bool) -> None:
        """Note that a job is over; give the container up once all are, if one left something in it."""
        with self._lock:
            if container != self._container:
                return
            self._jobs -= 1
            self._spoilt = self._spoilt or not cleared
            over = self._spoilt and not self._jobs
        if over:
            self._forget(container)

    def _forget(self, container: str) -> None:
        """Remove a container; the next job gets another."""
        with self._lock:
            if container == self._container:
                self._container = ""
        if container:
            with suppress(OurError), speaking():
                remove(container)

    def _entered(self, container: str, job: Job, began: float) -> tuple[Result, bool]:
        """The result of a job, and whether nothing of it goes on; raises CutShort where there is none."""
        gpu = (("CUDA_VISIBLE_DEVICES", job.gpu),) if job.gpu else ()
        variables = (("PATH", PATH), ("LC_ALL", "C.UTF-8"), *self._sandbox.image.environment, *gpu)
        request = exchange.request(job, FOLDER, variables, WRITABLE)
        python = self._sandbox.equipment.python
        deadline = began + job.limits.wall_seconds + exchange.SLACK_SECONDS
        most = exchange.most_bytes(job)
        with speaking():
            stream = _entry(container, (python, *exchange.supervisor_command()))
        with closing(stream), stream._sock as connection:  # noqa: SLF001 - all that the SDK offers
            try:
                answer = _conversed(connection, request, most, deadline)
            except TimeoutError:
                return exchange.out_of_time(time.monotonic() - began), False
            except OSError:
                raise exchange.CutShort("the container has ended") from None
        if len(answer) > most:
            return exchange.too_much(time.monotonic() - began), False
        return exchange.read(answer, job)


def _start(sandbox: DockerSandbox, stage: Stage) -> str:
    """A running container that sleeps."""
    api = client()
    host = configuration(api, sandbox.image, sandbox.seccomp, stage)
    created = api.create_container(
        sandbox.image.id,
        command=["/usr/bin/sleep", str(OLDEST_SECONDS)],
        user=USER,
        hostname="job",
        network_disabled=True,
        working_dir=FOLDER,
        labels=owner_label(),
        host_config=host,
    )
    container = str(created["Id"])
    try:
        api.start(container)
    except APIError:
        with suppress(APIError):  # the engine may have done so itself
            remove(container)
        raise
    return container


def remove(container: str) -> None:
    """End a container and all that runs in it."""
    client().remove_container(container, force=True, v=True)


def _entry(container: str, command: tuple[str, ...]) -> Any:  # noqa: ANN401 - the SDK says no more
    """The streams of a command in a container; raises CutShort where that has ended."""
    api = client()
    try:
        entered = api.exec_create(container, list(command), stdin=True, user=USER, workdir=FOLDER)
        return api.exec_start(entered["Id"], socket=True)
    except APIError as problem:
        if problem.status_code in _ENDED:
            raise exchange.CutShort("the container has ended") from None
        raise


def _conversed(connection: socket.socket, request: bytes, most: int, deadline: float) -> bytes:
    """Send a request, and give what comes on standard output, a little more than ``most`` bytes at most.

    Raises TimeoutError after ``deadline`` and OSError where the connection breaks.
    """
    sender = threading.Thread(target=_send, args=(connection, request), daemon=True)
    sender.start()
    answer = bytearray()
    for stream, piece in _frames(connection, deadline):
        if stream == _STDOUT:
            answer += piece
        if len(answer) > most:
            break
    return bytes(answer)


def _send(connection: socket.socket, request: bytes) -> None:
    with suppress(OSError):
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)


def _frames(connection: socket.socket, deadline: float) -> Iterator[tuple[int, bytes]]:
    """The pieces of a multiplexed stream (Docker Engine API, "Attach to a container", stream format)."""
    while head := _exactly(connection, _FRAME, deadline):
        size = int.from_bytes(head[4:], "big")
        while size:
            piece = _some(connection, min(size, 2**18), deadline)
            if not piece:
                return
            yield head[0], piece
            size -= len(piece)


def _exactly(connection: socket.socket, size: int, deadline: float) -> bytes:
    """Read ``size`` bytes; none where the stream ends before them."""
    content = b""
    while len(content) < size:
        piece = _some(connection, size - len(content), deadline)
        if not piece:
            return b""
        content += piece
    return content


def _some(connection: socket.socket, most: int, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
    return connection.recv(most)


def profile() -> str:
    """Seccomp profile of ours, as JSON; raises StorageError where this installation has lost it."""
    file = image.recipe_root() / PROFILE
    try:
        return file.read_text(encoding="utf-8")
    except OSError as problem:
        raise StorageError(f"{file}: cannot be read: {problem.strerror}; install the grader again") from None


@lru_cache(maxsize=1)
def client() -> APIClient:
    """The engine's, for this process; raises OurError where there is none."""
    return connect(ANSWER_SECONDS).api
