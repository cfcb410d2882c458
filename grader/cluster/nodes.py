"""Which nodes grade a class, and what is given to them: as many submissions as they take at a time.

Dask places work and repeats what a lost worker had; here is what it does not know: whether a node proved
itself, whether it is of the kind that the class is graded on, and whether an error is the node's own fault.
"""

from __future__ import annotations

import queue
import socket
import time
from collections import Counter, deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

from distributed import Future, KilledWorker

from grader.batch.executor import BatchSetting, Executor
from grader.cluster import node
from grader.cluster.node import Proof, Unfit
from grader.errors import OurError, UsageError
from grader.model import Verdict
from grader.text import count, escaped, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from grader.batch import BatchSession
    from grader.batch.executor import Graded
    from grader.cluster.node import GradingRequest
    from grader.cluster.schedulers import Cluster
    from grader.model import Grade, Submission

_LOOK = 1.0
"""Seconds after which it is looked again which workers there are."""

_GATHERING = 30.0
"""Seconds for others to prove themselves, once the first node has: then it is chosen what to grade on."""

_FETCHING = 60.0
"""Seconds for an answer that is there to travel."""

_ALONE = 120.0
"""Seconds without any node before a batch gives up."""

GONE = "the scheduler is gone; what is graded so far is kept, run the same command again to go on"
WENT_DOWN = "the workers that graded it went down, one after the other"

_LOSSES = 2
"""A submission is set aside once so many workers went down while they graded it."""

_STRIKES = 2
"""So many submissions that fail on a node and not on another show that it is the node that fails."""


@dataclass(frozen=True, slots=True)
class Node:
    """A worker that proved itself, and how many submissions it takes at a time."""

    address: str
    host: str
    setting: BatchSetting
    sandbox: str
    slots: int


@contextmanager
def on_cluster(
    cluster: Cluster, request: GradingRequest, earlier: BatchSession | None, say: Callable[[str], None]
) -> Iterator[Executor]:
    """The nodes of a cluster that are fit to grade a class, as an executor.

    Nodes of one kind grade it: that of the ``earlier`` session if there are some, else the most. Raises
    UsageError where no node is fit, naming each with the reason, and OurError where all are lost.
    """
    nodes = _Nodes(cluster, request, say)
    try:
        setting = nodes.choose(earlier)

        def grade(seed: int, submissions: Sequence[Submission]) -> Iterator[Graded]:
            return _graded(nodes, request.key, seed, submissions)

        yield Executor(setting, grade)
    finally:
        nodes.leave()


@dataclass(slots=True)
class _Nodes:
    """The workers of a cluster: asked for a proof as they come, forgotten as they go."""

    cluster: Cluster
    request: GradingRequest
    say: Callable[[str], None]
    setting: BatchSetting | None = None
    fit: dict[str, Node] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Why, by address: it is not asked again."""
    told_to_end: set[str] = field(default_factory=set)
    """The workers that are gone because somebody ended them."""
    proving: dict[str, Future] = field(default_factory=dict)
    done: queue.Queue[Future] = field(default_factory=queue.Queue)
    """Whatever has come to its end, of proofs and of grades."""
    looked: float = 0.0
    seen: float = field(default_factory=time.monotonic)
    """When there was a node last."""

    @property
    def slots(self) -> int:
        """How many submissions all of them take at a time."""
        return sum(member.slots for member in self.fit.values())

    def submit(self, function: Callable[..., Any], *arguments: object, address: str) -> Future:
        """Have something done on a worker."""
        future = self.cluster.client.submit(function, *arguments, workers=[address], pure=False)
        future.add_done_callback(self.done.put)
        return future

    def choose(self, earlier: BatchSession | None) -> BatchSetting:
        """Wait for proofs, and choose the kind of nodes; see `on_cluster`."""
        first = None
        while first is None or time.monotonic() - first < _GATHERING:
            self.look()
            if first is None and self.fit:
                first = time.monotonic()
            enough = len(self.fit) + len(self.left_out) >= self.cluster.wanted
            if enough and not self.proving:
                break
            self._take(_LOOK / 4)
            if not self.fit and (trouble := self._hopeless()):
                raise UsageError(trouble)
        if not self.fit:
            raise UsageError(f"no node can grade this: {_reasons(self.left_out)}")
        slots: Counter[BatchSetting] = Counter()
        for member in self.fit.values():
            slots[member.setting] += member.slots
        before = (
            BatchSetting(earlier.backend, earlier.toolkit, earlier.device, earlier.races) if earlier else None
        )
        setting = before if before is not None and before in slots else slots.most_common(1)[0][0]
        self.setting = setting
        for member in list(self.fit.values()):
            self._hold_against_others(member)
        hosts = listed(sorted({member.host for member in self.fit.values()}))
        nodes = f"{count(len(self.fit), 'worker')} on {hosts}, {self.slots} submissions at a time"
        sandboxes = listed(sorted({member.sandbox for member in self.fit.values()}))
        self.say(f"cluster: {nodes}; sandbox: {sandboxes}")
        return setting

    def look(self) -> None:
        """Ask workers that are new for their proof, and forget those that are gone."""
        now = time.monotonic()
        if now - self.looked < _LOOK:
            return
        self.looked = now
        self.cluster.replace_lost()
        workers = self.workers()
        for address in set(self.fit) - set(workers):
            self.forget(address)
        self.proving = {address: proof for address, proof in self.proving.items() if address in workers}
        for address in workers:
            if address not in (self.fit | self.left_out | self.proving):
                self._ask(address)
        if self.fit:
            self.seen = now

    def workers(self) -> Mapping[str, int]:
        """All workers, with how much each does at a time; raises OurError where their scheduler is gone."""
        try:
            workers: Mapping[str, int] = self.cluster.client.nthreads()
        except OSError:
            raise OurError(GONE) from None
        return workers

    def forget(self, address: str) -> None:
        """Count a worker no more that is gone, and say so once."""
        if address not in self.fit:
            return
        self.say(f"lost: {self.fit.pop(address).host} ({address}); what it had is done again")
        with suppress(OSError):
            notices = self.cluster.client.get_events(node.TOLD_TO_END) or ()
            self.told_to_end.update(ended for _, ended in notices if ended == address)

    def _ask(self, address: str) -> None:
        """Ask a worker for its proof, once it is seen to have a grader at all."""
        client = self.cluster.client
        package = client.submit(metadata.version, "cuda-grader", workers=[address], pure=False)
        self.proving[address] = self.submit(_proved, package, self.request, address=address)

    def _take(self, seconds: float) -> None:
        """Wait for the end of something where only proofs are under way."""
        with suppress(queue.Empty):
            self.take_proof(self.done.get(timeout=seconds))

    def take_proof(self, future: Future) -> bool:
        """Take in a worker's proof; False where the future is none."""
        address = next((address for address, proof in self.proving.items() if proof is future), None)
        if address is None:
            return False
        del self.proving[address]
        proof = self.answer(future, address)
        if isinstance(proof, KilledWorker):
            self.leave_out(address, address, "it went down while it proved itself")
        elif isinstance(proof, BaseException):
            self.leave_out(address, address, f"it cannot run this grader: {_plain(proof)}")
        elif proof.setting is None:
            self.leave_out(address, proof.host, proof.problem)
        else:
            slots = self.workers().get(address, 1)
            member = Node(address, proof.host, proof.setting, proof.sandbox, slots)
            self.fit[address] = member
            if self.setting is not None:
                self._hold_against_others(member)
        return True

    def _hold_against_others(self, member: Node) -> None:
        """Leave a node out that would grade otherwise than the class is graded."""
        setting, common = member.setting, self.setting
        if common is None or setting == common:
            return
        differing = [
            f"{name} {getattr(setting, name) or 'none'} instead of {getattr(common, name) or 'none'}"
            for name in BatchSetting.__dataclass_fields__
            if getattr(setting, name) != getattr(common, name)
        ]
        why = f"a class is graded on nodes of one kind, and it has {listed(differing)}"
        self.leave_out(member.address, member.host, why)

    def leave_out(self, address: str, host: str, problem: str) -> None:
        """Give a worker nothing more, and say why."""
        self.fit.pop(address, None)
        self.left_out[address] = escaped(f"{host}: {problem}", 400)
        self.say(f"not used: {self.left_out[address]}")

    def _hopeless(self) -> str:
        """Why no node can be expected any more; empty while one may come."""
        if self.proving:
            return ""
        if trouble := self.cluster.trouble():
            return f"{trouble}{'; ' + _reasons(self.left_out) if self.left_out else ''}"
        return ""

    def wait(self) -> Future | None:
        """The next thing that ended, None where nothing did for a moment; raises OurError without a node."""
        self.look()
        if not self.fit and not self.proving and time.monotonic() - self.seen > _ALONE:
            why = self._hopeless() or f"for {_ALONE:.0f} s there was no node that could grade"
            raise OurError(f"{why}; what is graded so far is kept, run the same command again to go on")
        try:
            return self.done.get(timeout=_LOOK)
        except queue.Empty:
            if self.cluster.client.status != "running":
                raise OurError(GONE) from None
            return None

    def answer(self, future: Future, address: str) -> Any:  # noqa: ANN401 - what a node gives
        """What came of a future that ended on a worker, or the exception; KilledWorker where both are gone.

        A worker that goes down before its answer is fetched takes that along, and Dask waits for the worker.
        """
        deadline = time.monotonic() + _FETCHING
        while isinstance(answer := _answer(future, _LOOK), TimeoutError) and time.monotonic() < deadline:
            if address not in self.workers():
                future.cancel()
                return KilledWorker(future.key, address, 0)
        return answer

    def leave(self) -> None:
        """Let all workers forget the class, unless their scheduler is gone: an answer would be waited for."""
        if self.cluster.client.status != "running":
            return
        with suppress(Exception):
            self.cluster.client.run(node.leave, self.request.key, workers=list(self.fit), on_error="ignore")


def _proved(_: str, request: GradingRequest) -> Proof:
    try:
        node.promise_notice()
        return node.prove(request)
    except Exception as problem:  # noqa: BLE001 - not each exception travels
        return Proof(socket.gethostname(), problem=_plain(problem))


def _answer(future: Future, seconds: float) -> Any:  # noqa: ANN401 - what a node gives
    """What came of a future, or the exception; what is lost with its scheduler is one, too."""
    try:
        return future.result(timeout=seconds)
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt | SystemExit):
            raise
        return problem


def _plain(problem: BaseException) -> str:
    return escaped(f"{type(problem).__name__}: {problem}".rstrip(": "), 300)


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(dict.fromkeys(left_out.values()))


@dataclass(frozen=True, slots=True)
class _Broken:
    """Why there is no grade, neither one of ours."""

    problem: str


@dataclass(slots=True)
class _Task:
    """A submission under way: ``failed_on`` is where it ended with an error of ours, and with which.

    ``address`` is the worker that grades it, and ``lost`` is how many workers went down while they did.
    """

    submission: Submission
    failure: str = ""
    failed_on: dict[str, Grade] = field(default_factory=dict)
    address: str = ""
    lost: int = 0


def _graded(nodes: _Nodes, key: str, seed: int, submissions: Sequence[Submission]) -> Iterator[Graded]:
    """Yield grades as they are finished. An error of ours is tried on another node before it counts."""
    batch, waiting = (key, seed), deque(_Task(submission) for submission in submissions)
    running: dict[Future, _Task] = {}
    strikes: dict[str, set[str]] = {}
    while waiting or running:
        _give_out(nodes, batch, waiting, running)
        future = nodes.wait()
        _take_back_lost(nodes, running, waiting)
        if future is None or nodes.take_proof(future) or future not in running:
            continue
        task = running.pop(future)
        answer = nodes.answer(future, task.address)
        if isinstance(answer, KilledWorker):  # its worker went down with it
            nodes.forget(task.address)
            _take_back(nodes, task, waiting)
            continue
        graded = _Broken(_plain(answer)) if isinstance(answer, BaseException) else answer
        if isinstance(graded, _Broken):
            if task.failure:
                raise OurError(f"no node says what became of `{task.submission.id}`: {graded.problem}")
            task.failure = graded.problem
            waiting.appendleft(task)
            continue
        if isinstance(graded, Unfit):
            if task.address in nodes.fit:
                nodes.leave_out(task.address, nodes.fit[task.address].host, graded.problem)
            waiting.appendleft(task)
        elif graded.grade.verdict is Verdict.ERROR and _may_be_tried_elsewhere(nodes, task):
            task.failed_on[task.address] = graded.grade
            waiting.appendleft(task)
        else:
            if graded.grade.verdict is not Verdict.ERROR:
                _count_strikes(nodes, task, strikes)
            _give_out(nodes, batch, waiting, running)  # no node waits while this one's reports are written
            yield graded


def _give_out(
    nodes: _Nodes, batch: tuple[str, int], waiting: deque[_Task], running: dict[Future, _Task]
) -> None:
    """Give the nodes as many as they have room for; ``batch`` is the request's key and the seed.

    A worker has never more than it grades at a time. What Dask had queued on a lost worker it would hold
    against the submission, as if that had brought the worker down.
    """
    for task in list(waiting):
        if len(running) >= nodes.slots:
            return
        if address := _place(nodes, task, running.values()):
            waiting.remove(task)
            task.address = address
            arguments = (*batch, task.submission, task.failure)
            running[nodes.submit(_graded_there, *arguments, address=address)] = task


def _place(nodes: _Nodes, task: _Task, running: Collection[_Task]) -> str:
    """The worker with the most room among those that a submission may be given to; empty where all are busy.

    That is none where it failed already, while there is another, and none that grades another submission
    under which a worker went down: so what brings workers down takes no other submission with it twice.
    """
    room = Counter({address: member.slots for address, member in nodes.fit.items()})
    room.subtract(other.address for other in running)
    suspected = {other.address for other in running if other.lost} if task.lost else set()
    candidates = [address for address in nodes.fit if address not in task.failed_on] or list(nodes.fit)
    allowed = [address for address in candidates if room[address] > 0 and address not in suspected]
    return max(allowed, key=lambda address: room[address], default="")


def _take_back_lost(nodes: _Nodes, running: dict[Future, _Task], waiting: deque[_Task]) -> None:
    """Take back what was given to workers that are gone: Dask waits for them to come back."""
    for future, task in list(running.items()):
        if not future.done() and task.address not in nodes.fit:
            future.cancel()
            del running[future]
            _take_back(nodes, task, waiting)


def _take_back(nodes: _Nodes, task: _Task, waiting: deque[_Task]) -> None:
    """Let a submission wait again whose worker is gone, and fail where it brought down too many."""
    task.lost += task.address not in nodes.left_out and task.address not in nodes.told_to_end
    if task.lost >= _LOSSES and not task.failure:
        task.failure = WENT_DOWN
    waiting.appendleft(task)


def _graded_there(key: str, seed: int, submission: Submission, failure: str) -> Graded | Unfit | _Broken:
    """What a worker makes of a submission; an exception is put into words here, for not each one travels."""
    try:
        return node.grade(key, seed, submission, failure)
    except Exception as problem:  # noqa: BLE001 - the other end decides what it means
        return _Broken(_plain(problem))


def _may_be_tried_elsewhere(nodes: _Nodes, task: _Task) -> bool:
    return not (task.failure or task.failed_on) and any(address != task.address for address in nodes.fit)


def _count_strikes(nodes: _Nodes, task: _Task, strikes: dict[str, set[str]]) -> None:
    """Hold it against a node that a submission failed on it and not elsewhere."""
    for address, grade in task.failed_on.items():
        strikes.setdefault(address, set()).add(task.submission.id)
        if len(strikes[address]) >= _STRIKES and address in nodes.fit:
            host = nodes.fit[address].host
            nodes.leave_out(address, host, f"what fails there is graded elsewhere; last: {grade.error}")
