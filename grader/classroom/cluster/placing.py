"""Placement of a class's submissions on nodes, and recovery where a node fails or goes down.

Dask repeats what a lost worker had; here is what it does not know: what may have brought a worker down, and
whether an error is the node's own fault.
"""

from __future__ import annotations

from collections import Counter, deque
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from distributed import Future, KilledWorker

from grader.base.errors import OurError
from grader.base.records import frozen, mutable
from grader.classroom.batch.executor import Executor
from grader.classroom.cluster import node
from grader.classroom.cluster.node import Unfit
from grader.classroom.cluster.nodes import Nodes, plain
from grader.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from grader.classroom.batch import BatchSession
    from grader.classroom.batch.executor import Graded
    from grader.classroom.cluster.node import GradingRequest
    from grader.classroom.cluster.schedulers import Cluster
    from grader.model import Grade, Submission

WENT_DOWN = "the workers that graded it went down, one after the other"

_LOSSES = 2
"""Number of workers that go down while grading a submission before it is set aside."""

_STRIKES = 2
"""Number of submissions failing on a node and not on another that shows that it is the node that fails."""


@contextmanager
def on_cluster(
    cluster: Cluster, request: GradingRequest, earlier: BatchSession | None, say: Callable[[str], None]
) -> Iterator[Executor]:
    """The nodes of a cluster that are fit to grade a class, as an executor.

    Nodes of one kind grade it: that of the ``earlier`` session if there are some, else the most. Raises
    UsageError where no node is fit, naming each with the reason, and OurError where all are lost.
    """
    nodes = Nodes(cluster, request, say)
    try:
        setting = nodes.choose(earlier)

        def grade(seed: int, submissions: Sequence[Submission]) -> Iterator[Graded]:
            return _graded(nodes, request.key, seed, submissions)

        yield Executor(setting, grade)
    finally:
        nodes.leave()


@frozen
class _Broken:
    """Reason why there is no grade, not even one of an error of ours."""

    problem: str


@mutable
class _Task:
    """A submission under way: ``failed_on`` is where it ended with an error of ours, and with which.

    ``address`` is the worker that grades it, and ``lost`` is how many workers went down while they did.
    """

    submission: Submission
    failure: str = ""
    failed_on: dict[str, Grade] = field(default_factory=dict)
    address: str = ""
    lost: int = 0


def _graded(nodes: Nodes, key: str, seed: int, submissions: Sequence[Submission]) -> Iterator[Graded]:
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
        graded = _Broken(plain(answer)) if isinstance(answer, BaseException) else answer
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
    nodes: Nodes, batch: tuple[str, int], waiting: deque[_Task], running: dict[Future, _Task]
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


def _place(nodes: Nodes, task: _Task, running: Collection[_Task]) -> str:
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


def _take_back_lost(nodes: Nodes, running: dict[Future, _Task], waiting: deque[_Task]) -> None:
    """Take back what was given to workers that are gone: Dask waits for them to come back."""
    for future, task in list(running.items()):
        if not future.done() and task.address not in nodes.fit:
            future.cancel()
            del running[future]
            _take_back(nodes, task, waiting)


def _take_back(nodes: Nodes, task: _Task, waiting: deque[_Task]) -> None:
    """Let a submission wait again whose worker is gone, and fail where it brought down too many."""
    task.lost += task.address not in nodes.left_out and task.address not in nodes.asked_to_end
    if task.lost >= _LOSSES and not task.failure:
        task.failure = WENT_DOWN
    waiting.appendleft(task)


def _graded_there(key: str, seed: int, submission: Submission, failure: str) -> Graded | Unfit | _Broken:
    """Outcome of a submission on a worker; an exception becomes words here, for not each one travels."""
    try:
        return node.grade(key, seed, submission, failure)
    except Exception as problem:  # noqa: BLE001 - the other end decides what it means
        return _Broken(plain(problem))


def _may_be_tried_elsewhere(nodes: Nodes, task: _Task) -> bool:
    return not (task.failure or task.failed_on) and any(address != task.address for address in nodes.fit)


def _count_strikes(nodes: Nodes, task: _Task, strikes: dict[str, set[str]]) -> None:
    """Hold it against a node that a submission failed on it and not elsewhere."""
    for address, grade in task.failed_on.items():
        strikes.setdefault(address, set()).add(task.submission.id)
        if len(strikes[address]) >= _STRIKES and address in nodes.fit:
            host = nodes.fit[address].host
            nodes.leave_out(address, host, f"what fails there is graded elsewhere; last: {grade.error}")
