"""Repairs that were tried: a barrier is put where the source has none, and the kernel runs without hazard.

A gap for a barrier must cut every path from the first access of a race to the second one. Such gaps are
ranked: first the gaps that all threads reach, then the ones in the fewest loops, then the ones that serve the
most races. The emulator has to confirm what the paths promise: the race is gone, there is no new finding, and
the kernel ends. Only then is anything said. The work is bounded and counted in vector steps, so that every
machine says the same.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.base.records import frozen
from grader.model import FindingKind, Severity
from grader.model.messages import text_of
from grader.simulation.emulator.memory.layout import lay_out
from grader.simulation.emulator.statement_gaps import Source, Statements, calls, uses_strong
from grader.simulation.ptx import Immediate, Instruction
from grader.simulation.ptx.nodes import edited, exchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from grader.model import Argument, Finding, Launch, Run
    from grader.simulation.emulator.memory.layout import LayOut
    from grader.simulation.emulator.statement_gaps import Gap
    from grader.simulation.ptx import Module


Key: TypeAlias = tuple[str, str, int | None, int | None]
"""Kind, hazard and both lines: the identity of a finding across cases."""

WORK = 40_000
"""Work that all trials of one submission may take together: about a second."""

FEW_LANES = 4096
"""Number of additional lanes that lengthen a vector step with detection by the time of a small one."""


FEW_RACES = 4
"""Number of additional findings that do so, too."""

MOST_FINDINGS = 20
"""Maximum number of findings in one case: where there are more, barriers are not what is missing."""


@frozen(eq=False)
class RepairCase:
    """A case to try repairs on: the launch, its findings, and the vector steps it took."""

    launch: Launch
    arguments: tuple[Argument, ...]
    findings: tuple[Finding, ...]
    steps: int
    case: str = ""
    lay_out: LayOut = lay_out
    """Puts memory in place as the launch finds it."""

    @property
    def keys(self) -> frozenset[Key]:
        """Keys of the findings."""
        return frozenset(map(key, self.findings))

    def work(self, steps: int | None = None) -> int:
        """Work of a run of ``steps`` vector steps, or of its own: one for each, more in large cases.

        To compare the accesses that race takes longer than to run them.
        """
        races = FEW_RACES + len(self.findings)
        return max(1, self.budget(self.steps if steps is None else steps) * races // FEW_RACES)

    def budget(self, steps: int) -> int:
        """The work of a run of ``steps`` vector steps (`Run.work`)."""
        lanes = min(math.prod(self.launch.block) * math.prod(self.launch.grid), 4 * FEW_LANES)
        return steps * (FEW_LANES + lanes) // FEW_LANES


def key(finding: Finding) -> Key:
    """Key that distinguishes findings here."""
    return finding.kind, finding.hazard, finding.line, finding.other_line


def between_warps(trials: Iterable[RepairCase]) -> frozenset[Key]:
    """Findings of these cases between threads of different warps, where no barrier of a warp helps."""
    findings = (finding for trial in trials for finding in trial.findings)
    return frozenset(key(finding) for finding in findings if finding.severity is not Severity.WARNING)


def fitting(trials: Iterable[RepairCase]) -> list[RepairCase]:
    """The smallest cases, as many as the budget allows to run several times; the smallest first.

    The smallest to show a hazard is always among them, unless it alone would take a quarter of the budget.
    """
    waiting = sorted((trial for trial in trials if len(trial.keys) <= MOST_FINDINGS), key=RepairCase.work)
    chosen: list[RepairCase] = []
    covered: set[Key] = set()
    for trial in [trial for trial in waiting if trial.work() <= WORK // 4]:
        if trial.keys - covered:
            chosen.append(trial)
            covered |= trial.keys
    for trial in waiting:
        if trial not in chosen and sum(candidate.work() for candidate in [*chosen, trial]) <= WORK // 8:
            chosen.append(trial)
    return sorted(chosen, key=RepairCase.work)


MOST_INSTRUCTIONS = 3_000
"""Larger functions are left alone: a student would not recognise them."""

ATTEMPTS = 4
"""Gaps that are tried for one hazard, and barriers that might be moved to one gap."""

_WARP = 32
BLOCK_BARRIER = Instruction("bar", ("sync",), (Immediate(0),))
WARP_BARRIER = Instruction("bar", ("warp", "sync"), (Immediate(0xFFFFFFFF),))
_CALLED = {BLOCK_BARRIER: "`__syncthreads()`", WARP_BARRIER: "`__syncwarp()`"}


class _OutOfWorkError(Exception):
    """The budget is spent."""


class _Cut(NamedTuple):
    """A gap that comes between the accesses of races; ``behind`` says how far behind each one's first."""

    statements: Statements
    gap: Gap
    behind: Mapping[Key, int]

    def rank(self, remaining: Collection[Key]) -> tuple[int, ...]:
        """Rank for the races that remain: least is best."""
        served = [self.behind[race] for race in remaining if race in self.behind]
        return (*self.statements.depth(self.gap.at), -len(served), min(served), self.gap.at)


_ANY_FINDING = frozenset({(FindingKind.TIMEOUT, "", None, None)})
"""Key in place of those of a run that did not end, or of which only that there are some is known."""


def _limit(trial: RepairCase) -> int:
    """Steps that a trial of a changed kernel may take."""
    return 2 * trial.steps + 1_000


@dataclass(eq=False)
class RepairSearch:
    """A kernel to be repaired; ``run`` launches a module with detection, in at most a number of steps.

    ``trials`` are cases that ran, the smallest first. To take a barrier away is tried on ``thorough`` as
    well, a case with many turns of the kernel's loops, and one in a loop stays unless its line is in
    ``repeated``: the lines whose barrier every thread passed more than once there.
    """

    module: Module
    entry: str
    source: Source
    trials: Sequence[RepairCase]
    run: Callable[[Module, RepairCase, int], Run]
    thorough: tuple[RepairCase, ...] = ()
    repeated: Collection[int] = ()
    is_right: Callable[[RepairCase, Run], bool] = lambda *_: True
    """True if the outputs of a trial's run are correct."""
    is_clean: Callable[[Module, RepairCase, int], bool | None] = lambda *_: None
    """True if a module has no findings in a trial, False if it has; None where only ``run`` can say."""
    left: int = WORK
    """Work that may still be done, see `RepairCase.work`."""
    between_warps: Collection[Key] = ()
    """Races that some case shows between two warps, also one that is too large to be a trial."""

    functions: dict[str, Statements] = field(init=False)
    strong: bool = False
    repair_of: dict[Key, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the kernel, and the functions it calls that have lines in the student's file."""
        self.functions = {}
        defined = {function.name: function for function in self.module.functions if function.defined}
        waiting, visited = [self.entry], {self.entry}
        while waiting:
            function = defined.get(waiting.pop())
            self.strong |= function is None or uses_strong(function)
            if function is None or len(function.body) > MOST_INSTRUCTIONS:
                continue
            new = [name for name in dict.fromkeys(calls(function)) if name not in visited]
            waiting, visited = waiting + new, visited.union(new)
            with suppress(ValueError):  # it has no control-flow graph
                statements = Statements(function, self.source)
                if any(statements.lines):
                    self.functions[function.name] = statements

    def repairs(self) -> Mapping[Key, str]:
        """For each hazard that a barrier removes a clause that says where to put it."""
        with suppress(_OutOfWorkError):
            self._add_barriers()
            self._move_barriers()
        return self.repair_of

    def unneeded(self) -> list[int]:
        """The lines of barriers without which nothing changes, all of them removed together.

        Only where there were no findings.
        """
        if any(trial.findings for trial in self.trials):
            return []
        module, lines = self.module, []
        with suppress(_OutOfWorkError):
            for name, statements in self.functions.items():
                for line in sorted({statements.lines[at] for at in statements.barriers()}, reverse=True):
                    current = Statements(module.function(name), self.source)
                    reduced = exchanged(module, edited(current.function, {}, current.barriers(line)))
                    judged = self._can_be_judged(statements, line)
                    if judged and self._holds(reduced, frozenset(), thoroughly=True):
                        module = reduced
                        lines.append(line)
        return sorted(lines)

    def _add_barriers(self) -> None:
        missing = [race for race in self._hazards() if race[0] == FindingKind.RACE]
        cuts = list(self._cuts(missing))
        while missing:
            useful = [cut for cut in cuts if missing[0] in cut.behind]
            for cut in sorted(useful, key=lambda cut: cut.rank(missing))[:ATTEMPTS]:
                if self._try(cut, frozenset(missing).intersection(cut.behind)):
                    break
            missing = [race for race in missing[1:] if race not in self.repair_of]

    def _races(self) -> frozenset[Key]:
        """The races among the hazards that a barrier might end."""
        return frozenset(race for race in self._hazards() if race[0] == FindingKind.RACE)

    def _hazards(self) -> Iterator[Key]:
        """The hazards of all trials that a barrier in one gap might end."""
        keys: set[Key] = set()
        for finding in (finding for trial in self.trials for finding in trial.findings):
            of_block = finding.other_block is None or finding.other_block == finding.block
            serious = finding.severity is not Severity.INFO and of_block and finding.line
            if serious and key(finding) not in keys:
                keys.add(key(finding))
                yield key(finding)

    def _cuts(self, races: list[Key]) -> Iterator[_Cut]:
        """The gaps that come between the accesses of some race."""
        for statements in self.functions.values():
            ways = {race: self._ways(statements, race) for race in races}
            ways = {race: (first, second) for race, (first, second) in ways.items() if first and second}
            for gap in statements.gaps if ways else ():
                behind = {
                    race: (gap.at - first[-1]) % len(statements.lines)
                    for race, (first, second) in ways.items()
                    if not statements.flow.reaches(first, second, barring=gap.at)
                }
                if behind:
                    yield _Cut(statements, gap, behind)

    def _ways(self, statements: Statements, race: Key) -> tuple[list[int], list[int]]:
        """The instructions of a function that make the first and the second access of a race."""
        _, hazard, line, other_line = race
        first = self._accesses(statements, other_line or 0, writing=hazard != "WAR", visited=set())
        second = self._accesses(statements, line or 0, writing=hazard != "RAW", visited=set())
        return first, second

    def _accesses(self, statements: Statements, line: int, *, writing: bool, visited: set[str]) -> list[int]:
        """The accesses of a line, in the function itself or in the functions that it calls."""
        accesses = statements.accesses(line, writing=writing)
        visited = {*visited, statements.function.name}
        for name in set(calls(statements.function)) - visited:
            callee = self.functions.get(name)
            if callee and self._accesses(callee, line, writing=writing, visited=visited):
                accesses += statements.calls_of(name)
        return sorted(accesses)

    def _try(self, cut: _Cut, races: frozenset[Key]) -> bool:
        """Put a barrier in; true, and noted, if it removes the races.

        Any other races that it removes need no repair of their own: where two buffers take turns, one barrier
        ends races in which a path leads around it.
        """
        function, gap = cut.statements.function, cut.gap
        for barrier in self._barriers(races):
            located = replace(barrier, location=function.body[gap.at].location)
            module = exchanged(self.module, edited(function, {gap.at: located}))
            remaining = self._remaining_findings(module, races)
            if remaining is None or not self._for_good(module, races):
                continue
            ended = self._for_good(module, self._races() - remaining)
            repair = text_of("add-barrier", barrier=_CALLED[barrier], place=gap.at_words)
            if barrier is BLOCK_BARRIER and not set(self._hazards()) - ended:
                with suppress(_OutOfWorkError):
                    spare = self._spare(cut, ended, located)
                    words = {"barrier": _CALLED[barrier], "place": gap.to_words}
                    repair = text_of("move-barrier", line=spare, **words) if spare else repair
            self.repair_of.update(dict.fromkeys(ended, repair))
            return True
        return False

    def _for_good(self, module: Module, races: frozenset[Key]) -> frozenset[Key]:
        """The races that are repaired: a barrier between two stores only says which one comes last.

        Where the output is wrong even so, one of the two should not store there at all.
        """
        stores = frozenset(race for race in races if race[1] == "WAW")
        showing = [trial for trial in self.trials if trial.keys & stores]
        if all(self.is_right(trial, self._run(module, trial)) for trial in showing):
            return races
        return races - stores

    def _barriers(self, races: frozenset[Key]) -> list[Instruction]:
        """The kinds of barrier to try, the cheaper one first where all happens within warps."""
        of_warp = not races & {*self.between_warps, *between_warps(self.trials)}
        x, y, z = self.trials[0].launch.block
        by_warps = x * y * z > _WARP or any(
            instruction.opcode == "bar" and "warp" in instruction.modifiers
            for function in self.module.functions
            for instruction in function.body
        )
        return [WARP_BARRIER, BLOCK_BARRIER] if of_warp and by_warps else [BLOCK_BARRIER]

    def _spare(self, cut: _Cut, races: frozenset[Key], barrier: Instruction) -> int:
        """The line of a barrier that is of no use as soon as another stands in a better gap; else 0."""
        statements, at = cut.statements, cut.gap.at
        near = sorted(statements.barriers(), key=lambda barrier_at: (abs(barrier_at - at), barrier_at))
        for line in list(dict.fromkeys(statements.lines[barrier_at] for barrier_at in near))[:ATTEMPTS]:
            edited_function = edited(statements.function, {at: barrier}, statements.barriers(line))
            judged = self._can_be_judged(statements, line)
            if judged and self._holds(exchanged(self.module, edited_function), races, thoroughly=True):
                return line
        return 0

    def _can_be_judged(self, statements: Statements, line: int) -> bool:
        """True if the cases show the need of a barrier: one in a loop orders one turn and the next.

        Atomic and volatile accesses race with nothing, and still their order matters.
        """
        once = not any(statements.flow.loops_around(at) for at in statements.barriers(line))
        return not self.strong and (once or line in self.repeated)

    def _move_barriers(self) -> None:
        """Repair barriers that some threads do not reach."""
        for divergence in [
            hazard for hazard in self._hazards() if hazard[0] == FindingKind.BARRIER_DIVERGENCE
        ]:
            for statements in self.functions.values():
                barriers = statements.barriers(divergence[2] or 0)
                if barriers:
                    self._move(divergence, statements, barriers)

    def _move(self, divergence: Key, statements: Statements, barriers: list[int]) -> None:
        apart, _ = statements.depth(barriers[0])
        loops = statements.flow.loops_around(barriers[0])
        better = [
            gap
            for gap in statements.gaps
            if statements.depth(gap.at)[0] < apart and statements.flow.loops_around(gap.at) == loops
        ]
        better.sort(key=lambda gap: (abs(gap.at - barriers[0]), gap.at))
        line = divergence[2]
        for gap in better[:ATTEMPTS]:
            located = replace(BLOCK_BARRIER, location=statements.function.body[gap.at].location)
            edited_function = edited(statements.function, {gap.at: located}, barriers)
            if self._holds(exchanged(self.module, edited_function), frozenset({divergence}), thoroughly=True):
                words = {"barrier": _CALLED[BLOCK_BARRIER], "place": gap.to_words}
                self.repair_of[divergence] = text_of("move-barrier-for-all", line=line or 0, **words)
                return

    def _holds(self, module: Module, ended: frozenset[Key], *, thoroughly: bool = False) -> bool:
        """True if in every trial these hazards have ended and there are no new findings."""
        return self._remaining_findings(module, ended, thoroughly=thoroughly) is not None

    def _remaining_findings(
        self, module: Module, ended: frozenset[Key], *, thoroughly: bool = False
    ) -> frozenset[Key] | None:
        """Findings that remain in some trial; None where one of ``ended`` does, or there is a new finding.

        Raises _OutOfWorkError where the budget does not suffice for that.
        """
        showing = [trial for trial in self.trials if trial.keys & ended]
        other_trials = [trial for trial in self.trials if not trial.keys & ended]
        if thoroughly:
            other_trials.reverse()  # a barrier is missed in a loop that repeats, and so in the largest trial
            other_trials += [trial for trial in self.thorough if trial not in self.trials]
        remaining: set[Key] = set()
        for trial in (*showing, *other_trials):
            keys = self._attempt(module, trial)
            if not keys <= trial.keys - ended:
                return None
            remaining |= keys
        return frozenset(remaining)

    def _attempt(self, module: Module, trial: RepairCase) -> frozenset[Key]:
        clean = None if trial.keys else self.is_clean(module, trial, trial.budget(_limit(trial)))
        if clean is not None:
            self.left -= trial.work(1)
            return frozenset() if clean else _ANY_FINDING
        run = self._run(module, trial)
        keys = frozenset(map(key, run.findings))
        return keys if run.completed else keys | _ANY_FINDING

    def _run(self, module: Module, trial: RepairCase) -> Run:
        """A trial of a changed kernel; raises _OutOfWorkError where the budget does not last for it."""
        limit = _limit(trial)
        if self.left < trial.work(limit):
            raise _OutOfWorkError
        run = self.run(module, trial, trial.budget(limit))
        self.left -= trial.work(run.steps)
        return run
