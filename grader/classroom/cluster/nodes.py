"""The nodes that grade a class.

Dask knows which workers there are; here is what it does not know: whether a node proved itself, and whether
it is of the kind that the class is graded on.
"""

from __future__ import annotations

import queue
import socket
import time
from collections import Counter
from contextlib import suppress
from dataclasses import astuple, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

from distributed import Future, KilledWorker

from grader.base.errors import OurError, UsageError
from grader.base.records import frozen, mutable
from grader.base.text import count, escaped, listed
from grader.classroom.batch.executor import BatchSetting
from grader.classroom.cluster import node
from grader.classroom.cluster.node import Proof
from grader.toolchain import sandbox_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.classroom.batch import BatchSession
    from grader.classroom.cluster.node import GradingRequest
    from grader.classroom.cluster.schedulers import Cluster

_LOOK = 1.0
"""Seconds after which it is looked again which workers there are."""

_ASKING = 5.0
"""Seconds until it is asked again whether a node can still come, on Slurm with `squeue`."""

_WONDERING = 10.0
"""Seconds without any node after which it is said what they wait for."""

_GATHERING = 30.0
"""Seconds for others to prove themselves, once the first node has: then it is chosen what to grade on."""

_FETCHING = 60.0
"""Seconds for an answer that is there to travel."""

_ALONE = 120.0
"""Seconds without any node before a batch gives up."""

GONE = "the scheduler is gone; what is graded so far is kept, run the same command again to go on"


@frozen
class Node:
    """A worker that proved itself, and how many submissions it takes at a time."""

    address: str
    host: str
    setting: BatchSetting
    sandbox: str
    slots: int


@mutable
class Nodes:
    """The workers of a cluster: asked for a proof as they come, forgotten as they go."""

    cluster: Cluster
    request: GradingRequest
    say: Callable[[str], None]
    setting: BatchSetting | None = None
    fit: dict[str, Node] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Reasons, by address, why nodes are left out: these are not asked again."""
    asked_to_end: set[str] = field(default_factory=set)
    """The workers that are gone because they were ended on purpose."""
    proving: dict[str, Future] = field(default_factory=dict)
    done: queue.Queue[Future] = field(default_factory=queue.Queue)
    """Finished futures, of proofs and of grades."""
    unsaid: list[str] = field(default_factory=list)
    """Reasons why nodes are left out, until one is fit: without any, one message says all of it."""
    waiting: str = ""
    """Message that was printed on what nodes wait for."""
    looked: float = 0.0
    asked: float = 0.0
    seen: float = field(default_factory=time.monotonic)
    """When there was a node last."""

    @property
    def slots(self) -> int:
        """Number of submissions that all nodes take at a time."""
        return sum(member.slots for member in self.fit.values())

    def submit(self, function: Callable[..., Any], *arguments: object, address: str) -> Future:
        """Have something done on a worker."""
        future = self.cluster.client.submit(function, *arguments, workers=[address], pure=False)
        future.add_done_callback(self.done.put)
        return future

    def choose(self, earlier: BatchSession | None) -> BatchSetting:
        """Wait for proofs, and choose the kind of nodes; see `placing.on_cluster`."""
        first = None
        while first is None or time.monotonic() - first < _GATHERING:
            self.look()
            if first is None and self.fit:
                first = time.monotonic()
            enough = len(self.fit) + len(self.left_out) >= self.cluster.wanted
            if enough and not self.proving:
                break
            self._take(_LOOK / 4)
            self._ask_whether_one_comes()
        if not self.fit:
            raise UsageError(f"no node can grade this: {_reasons(self.left_out)}")
        slots: Counter[BatchSetting] = Counter()
        for member in self.fit.values():
            slots[member.setting] += member.slots
        before = (
            BatchSetting(earlier.backend, earlier.toolkit, earlier.device, earlier.races) if earlier else None
        )
        setting = common_setting(slots, before)
        self.setting = setting
        self._say_left_out()
        for member in list(self.fit.values()):
            self._hold_against_others(member)
        hosts = listed(sorted({member.host for member in self.fit.values()}))
        nodes = f"{count(len(self.fit), 'worker')} on {hosts}, {count(self.slots, 'submission')} at a time"
        sandboxes = sorted({member.sandbox for member in self.fit.values()})
        self.say(f"cluster: {nodes}; sandbox: {listed(sandboxes)}")
        if sandbox_choice.LOCAL in sandboxes:
            self.say(sandbox_choice.exposure(sandbox_choice.STRANGERS, "the user of its worker"))
        return setting

    def _ask_whether_one_comes(self) -> None:
        """Say once what is waited for without any node; raises UsageError where none can be expected."""
        now = time.monotonic()
        if self.fit or now - self.asked < _ASKING:
            return
        self.asked = now
        if trouble := self._hopeless():
            raise UsageError(trouble)
        if not self.waiting and now - self.seen > _WONDERING:
            self.waiting = self.cluster.waiting()
            if self.waiting:
                self._say_left_out()
                self.say(f"no node is ready yet: {self.waiting}")

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
            notices = self.cluster.client.get_events(node.END_REQUEST) or ()
            self.asked_to_end.update(ended for _, ended in notices if ended == address)

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
            self.leave_out(address, address, f"it cannot run this grader: {plain(proof)}")
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
        self.unsaid.append(self.left_out[address])
        if self.setting is not None:
            self._say_left_out()

    def _say_left_out(self) -> None:
        while self.unsaid:
            self.say(f"not used: {self.unsaid.pop(0)}")

    def _hopeless(self) -> str:
        """Reason why no node can be expected any more; empty while one may come."""
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
        """Result of a future that ended on a worker, or its exception; KilledWorker where both are gone.

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


def common_setting(slots: Mapping[BatchSetting, int], earlier: BatchSetting | None) -> BatchSetting:
    """Setting for a class where nodes grade in several ways: as before, else where there is most room."""
    if earlier is not None and earlier in slots:
        return earlier
    return max(slots, key=lambda setting: (slots[setting], astuple(setting)))


def _proved(_: str, request: GradingRequest) -> Proof:
    try:
        node.promise_notice()
        return node.prove(request)
    except Exception as problem:  # noqa: BLE001 - not each exception travels
        return Proof(socket.gethostname(), problem=plain(problem))


def _answer(future: Future, seconds: float) -> Any:  # noqa: ANN401 - what a node gives
    """Result of a future, or its exception; what is lost with its scheduler is one, too."""
    try:
        return future.result(timeout=seconds)
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt | SystemExit):
            raise
        return problem


def plain(problem: BaseException) -> str:
    """An exception in one line."""
    return escaped(f"{type(problem).__name__}: {problem}".rstrip(": "), 300)


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(dict.fromkeys(left_out.values()))
