"""Choice of the runs of instructions that are simulated, and of those that stand for the others.

The runs of the beginning are simulated, and some of each piece of code that comes later. Further turns of a
loop take as long as the last of these, unless they ask for more: then some of them are simulated as well, of
each kind.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Number = TypeVar("Number", int, float)
    Code = tuple[int, int]
    Kind = tuple[int, int, int]

UNLIKE = 4
"""Number of runs of each piece of code that is not among the first which are simulated as well."""

OF_MORE = 8
"""Number of runs of each kind that asks for more than those: the first of them find nothing under way."""

MORE = 0.2
"""Share of their demands by which others of the same code may ask for more and still be like them."""

AS_FIRST = -1
"""The kind of runs that are like the first of their code; others have the level of their demands."""


def last_half(values: Sequence[Number]) -> Sequence[Number]:
    """Values that stand for what comes later: the first wait for what is not there yet."""
    return values[len(values) // 2 :]


class BlockRuns:
    """The runs of some blocks: which are ``chosen``, and of which of the ``kinds`` each is."""

    def __init__(
        self,
        codes: Sequence[Code],
        issues: Sequence[int],
        most: int,
        asked: Callable[[], NDArray[np.float64]],
    ) -> None:
        """Choose runs that issue ``most`` instructions from the first on, and up to as many of others.

        A run is given by its first and last instruction and the instructions that warps issue; ``asked``
        gives what they ask for, by run and unit.
        """
        self._codes, self._issues, self._most = codes, issues, most
        self.kinds: list[Kind] = [(*code, AS_FIRST) for code in codes]
        self._levels: dict[Kind, float] = {}
        ends = np.cumsum(issues)
        self.whole = bool(ends[-1] <= most)
        """True if all runs are simulated."""
        window = len(ends) if self.whole else max(1, int(np.searchsorted(ends, most)))
        self.chosen = self._first_of_each(window)
        if not self.whole:
            self._choose_of_more(asked())

    def _first_of_each(self, window: int) -> list[bool]:
        """The first runs, and some later ones of each piece of code that is not among them."""
        within, left, chosen = set(self._codes[: window - 1]), self._most, []
        taken: Counter[Code] = Counter()
        for number, code in enumerate(self._codes):
            is_new = code not in within and taken[code] < UNLIKE and left > 0
            chosen.append(number < window or is_new)
            if number >= window and is_new:
                taken[code] += 1
                left -= self._issues[number]
        return chosen

    def _choose_of_more(self, asked: NDArray[np.float64]) -> None:
        """Separate runs that ask for more than those that are chosen, and choose some of each kind.

        So are runs of code of which none is chosen, where too much came before it.
        """
        totals = asked.sum(axis=1)
        groups: list[NDArray[np.intp]] = []
        for code, numbers in self._by_code().items():
            first = [number for number in numbers if self.chosen[number]]
            later = np.array([number for number in numbers if not self.chosen[number]])
            if not len(later):
                continue
            stand = asked[last_half(first)].mean(axis=0) if first else np.zeros(asked.shape[1])
            self._levels[*code, AS_FIRST] = float(stand.sum())
            if (asked[later].mean(axis=0) - stand).max() > MORE * stand.sum():
                groups += self._by_level(code, later, totals)
        groups.sort(key=lambda group: -totals[group].sum())
        self._choose(groups)

    def _by_code(self) -> dict[Code, list[int]]:
        numbers: dict[Code, list[int]] = {}
        for number, code in enumerate(self._codes):
            numbers.setdefault(code, []).append(number)
        return numbers

    def _by_level(
        self, code: Code, numbers: NDArray[np.intp], totals: NDArray[np.float64]
    ) -> list[NDArray[np.intp]]:
        """Runs of one code by the level of demands; twice as much is two levels more. Each is a kind."""
        levels = np.round(2 * np.log2(np.maximum(1, totals[numbers]))).astype(np.int64)
        groups = []
        for level in set(levels.tolist()):
            group, kind = numbers[levels == level], (*code, level)
            self._levels[kind] = float(totals[group].mean())
            for number in group.tolist():
                self.kinds[number] = kind
            groups.append(group)
        return groups

    def _choose(self, groups: Sequence[NDArray[np.intp]]) -> None:
        """Choose some runs of each group that follow each other, as far as that is not too much."""
        left = self._most
        for turn in range(OF_MORE):
            for group in groups:
                at = max(0, len(group) - OF_MORE) // 2 + turn
                if at < len(group) and self._issues[group[at]] <= left:
                    self.chosen[group[at]] = True
                    left -= self._issues[group[at]]

    def costs(self, durations: Mapping[Kind, Sequence[float]]) -> list[float]:
        """Cost of each run that was not chosen, by the durations of each kind's, in their order."""
        taken = {kind: float(np.mean(last_half(values))) for kind, values in durations.items()}
        simulated = sum((kind[1] - kind[0]) * len(values) for kind, values in durations.items())
        pace = sum(sum(values) for values in durations.values()) / max(1, simulated)
        for kind in set(self.kinds) - taken.keys():
            taken[kind] = self._as_others(kind, taken) or pace * (kind[1] - kind[0])
        # What asks for more takes no less, though those that were chosen have more room.
        costs = {kind: max(cost, taken.get((*kind[:2], AS_FIRST), 0.0)) for kind, cost in taken.items()}
        return [
            0.0 if is_chosen else costs[kind] for kind, is_chosen in zip(self.kinds, self.chosen, strict=True)
        ]

    def _as_others(self, kind: Kind, taken: Mapping[Kind, float]) -> float:
        """Cost of a kind, by the kind of the same code with the most similar demands; 0 for none."""
        level = self._levels.get(kind, 0.0)
        others = [other for other in taken if other[:2] == kind[:2] and self._levels.get(other)]
        if not others or not level:
            return 0.0
        nearest = min(others, key=lambda other: abs(np.log(level / self._levels[other])))
        return taken[nearest] * max(1.0, level / self._levels[nearest])
