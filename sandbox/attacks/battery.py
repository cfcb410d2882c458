"""Grading attacks, a few at a time, beside honest neighbours, and looking for what they leave."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from attacks import traces
from attacks.judge import Trial, complaints
from attacks.table import DOES_NOT_COMPILE, FOLDER
from attacks.watched import Watched
from grader.base.errors import OurError
from grader.classroom.course.download import read_download
from grader.grading.assignment import find_assignment, load_assignment, reference_folder
from grader.kinds import pipeline
from grader.model import Verdict
from grader.running.backends.emulator import EMULATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from attacks.table import Attack
    from attacks.world import World
    from grader.kinds.plan import Plan
    from grader.model import Grade, Submission
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

ROUND = 8
"""Attacks after which the neighbour is graded again, and it is looked for what they left."""

COMPILE_SECONDS = 8
"""Seconds of a compiler for a file that is not expected to compile; each honest one has its full time."""

_SEED = 5
_CASES = {"run", "square-32", "mp3"}
"""The program's one case, and of the kernel's a square and one with edges."""

_GONE_SECONDS = 3.0
"""Seconds after which what is still there counts as left: clearing up may take a moment."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An attack (or the record of a whole round), how it ended, and what was not as it should be."""

    name: str
    ended: str
    seconds: float
    complaints: tuple[str, ...] = ()

    @property
    def contained(self) -> bool:
        """True if there is nothing to complain of."""
        return not self.complaints


@dataclass(slots=True)
class Battery:
    """Grader of attacks: the tools with the sandbox on trial, and the plans of the two assignments."""

    world: World
    tools: Tools
    backend: Backend = EMULATOR
    _plans: dict[bool, Plan] = field(default_factory=dict)
    _neighbours: dict[bool, Grade] = field(default_factory=dict)

    def run(self, attacks: Iterable[Attack], jobs: int = 2) -> Iterator[Tried]:
        """Try all attacks, ``jobs`` at a time; then say how it went, attack by attack, round by round.

        Raises OurError where not even the honest neighbour can be graded.
        """
        chosen = tuple(attacks)
        kinds = sorted({attack.is_kernel for attack in chosen})
        yield from self._first(kinds)
        gpu, memory = traces.gpu_bytes(), 0
        with ThreadPoolExecutor(jobs) as pool:
            rounds = [chosen[i : i + ROUND] for i in range(0, len(chosen), ROUND)]
            for number, some in enumerate(rounds, 1):
                contacts = len(self.world.contacts)
                yield from pool.map(self._attempt, some)
                yield self._left(number, contacts)
                yield from self._honest(kinds, f"neighbour after round {number}")
                memory = memory or traces.own_bytes()
        yield _flat("own memory", traces.own_bytes() - memory, traces.FLAT_BYTES)
        yield _flat("GPU memory", traces.gpu_bytes() - gpu, traces.GPU_BYTES)

    def trial(self, attack: Attack) -> Trial:
        """Grade an attack as any submission is graded, and keep what came back."""
        began = time.monotonic()
        (submission,) = read_download(self.world.hand_in(attack)).submissions
        watched = Watched(
            self.tools.sandbox, seconds=COMPILE_SECONDS if DOES_NOT_COMPILE in attack.ends else 0
        )
        cache = None if attack.battery == "compile" else self.tools.cache  # there the compiler is attacked
        tools = replace(self.tools, sandbox=watched, cache=cache)
        plan = self._plan(attack.is_kernel)
        if not attack.is_kernel:
            plan = _with_arguments(plan, attack, self.world.arguments(attack))
        grade = pipeline.grade(plan, submission, tools)
        return Trial(attack, grade, tuple(watched.seen), time.monotonic() - began)

    def _attempt(self, attack: Attack) -> Tried:
        trials = [self.trial(attack) for _ in range(1 + attack.again)]
        of_trials = (complaints(trial, self.world.canary) for trial in trials)
        ended = trials[-1].ended if not trials[-1].grade.error else "error"
        return Tried(
            attack.name,
            ended,
            sum(trial.seconds for trial in trials),
            tuple(dict.fromkeys(chain(*of_trials))),
        )

    def _left(self, number: int, earlier: int) -> Tried:
        """Traces of the attacks of a round, and the addresses that they reached."""
        began = time.monotonic()
        while (
            leftovers := tuple(traces.traces(self.world, self.tools.sandbox.name))
        ) and time.monotonic() < began + _GONE_SECONDS:
            time.sleep(0.1)
        contacts = tuple(self.world.contacts[earlier:])
        return Tried(f"left by round {number}", "", time.monotonic() - began, (*contacts, *leftovers))

    def _first(self, kinds: Iterable[bool]) -> Iterator[Tried]:
        """The honest neighbours' first grades; raises OurError where they are not what they should be."""
        for trial in self._honest(kinds, "neighbour before"):
            if not trial.contained:
                raise OurError(f"nothing was attacked: {trial.complaints[0]}")
            yield trial

    def _honest(self, kinds: Iterable[bool], when: str) -> Iterator[Tried]:
        """Grade the honest neighbours: each time as the first time, with full marks."""
        for is_kernel in kinds:
            began = time.monotonic()
            grade = pipeline.grade(self._plan(is_kernel), _neighbour(is_kernel), self.tools)
            first = self._neighbours.setdefault(is_kernel, grade)
            complaints = () if _same(first, grade) else (f"graded {_words(grade)}, before {_words(first)}",)
            if grade.verdict is not Verdict.PASS:
                complaints = (*complaints, f"the honest neighbour is graded {_words(grade)}")
            kind = "kernel" if is_kernel else "program"
            yield Tried(f"{kind}: {when}", "", time.monotonic() - began, complaints)

    def _plan(self, is_kernel: bool) -> Plan:  # noqa: FBT001 - one of two plans
        if is_kernel not in self._plans:
            folder = find_assignment("tiled-matmul") if is_kernel else FOLDER / "assignment"
            make = partial(pipeline.make_plan, load_assignment(folder), _SEED, self.tools)
            plan = make(visible_only=is_kernel, backend=self.backend)
            few = tuple(case for case in plan.cases if case.id in _CASES)
            self._plans[is_kernel] = replace(plan, cases=few)
        return self._plans[is_kernel]


def _with_arguments(plan: Plan, attack: Attack, arguments: tuple[str, ...]) -> Plan:
    """A plan whose case tells an attack where the bait is, or, on the device, a case for each of its ways."""
    (case,) = plan.cases
    if not attack.device:
        return replace(plan, cases=(replace(case, arguments=arguments),))
    names = [name for name, _ in attack.device]
    cases = (replace(case, id=name, arguments=(*arguments, f"device={name}")) for name in names)
    return replace(plan, cases=tuple(cases), backend=EMULATOR)


def _neighbour(is_kernel: bool) -> Submission:  # noqa: FBT001 - one of two
    path: Path = FOLDER / "assignment" / "honest.cu"
    if is_kernel:
        path = reference_folder(load_assignment(find_assignment("tiled-matmul"))) / "solution.cu"
    return read_download(path).submissions[0]


def _same(one: Grade, other: Grade) -> bool:
    return (one.verdict, one.score, one.max_score) == (other.verdict, other.score, other.max_score)


def _words(grade: Grade) -> str:
    reason = f" ({grade.error})" if grade.error else ""
    return f"{grade.verdict.value} with {float(grade.score):g} of {float(grade.max_score):g}{reason}"


def _flat(name: str, more: int, most: int) -> Tried:
    text = f"{more / 2**20:+.0f} MiB"
    complaints = (
        () if more <= most else (f"{text} since the first round, expected at most {most // 2**20} MiB",)
    )
    return Tried(f"{name}: {text}", "", 0.0, complaints)
