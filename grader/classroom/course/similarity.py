"""Submissions that are alike: by tokens without names and numbers, less what staff gave to all.

The method is winnowing (Schleimer, Wilkerson, Aiken: *Winnowing: Local Algorithms for Document
Fingerprinting*, SIGMOD 2003): runs of tokens are hashed, and of every few neighbouring hashes the smallest is
kept. A match is a place to look at, not a verdict: short tasks have few ways to be solved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from heapq import nsmallest
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from grader.base.cpp import CppText, walk
from grader.base.records import frozen
from grader.model import Alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

RUN = 16
"""Tokens of a run: some two lines. Shorter ones are shared by chance."""

WINDOW = 8
"""Number of neighbouring runs of which one is kept."""

FEWEST = 8
"""Kept runs that a submission must have of its own to be compared at all."""

LEAST_SHARE = 0.5
"""Minimum share of the smaller submission's runs: pairs that are less alike are not reported."""

MOST_OWNERS = 40
"""Maximum number of (groups of) owners: runs that more of them share show how the task is solved, and are no
evidence."""

COMMON_SHARE = 0.25
"""The same as a share of the class, where that is less; but two or three may always share something."""

MOST_TOLD = 60
"""Maximum number of pairs of a class that are reported."""

_KEPT = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
_TEXTS = {"string_literal", "char_literal", "raw_string_literal", "system_lib_string"}
_BASE = np.uint64(0x9E3779B97F4A7C15)


class _Pair(NamedTuple):
    """An `Alike` whose lines have not been looked up."""

    share: float
    first: str
    second: str
    same: tuple[str, ...]


@frozen
class _TokenRuns:
    """The hashes of all runs of tokens, the line of each token, and the hashes that are kept."""

    hashes: NDArray[np.uint64]
    lines: NDArray[np.int64]
    kept: frozenset[int]


def similar(
    submissions: Mapping[str, str], handout_texts: Iterable[str], most: int = MOST_TOLD
) -> tuple[tuple[Alike, ...], int]:
    """The pairs of texts that are most alike, the most alike first, and how many more there are.

    ``handout_texts`` are texts that all students may have.
    """
    handed_out = frozenset(value for text in handout_texts for value in _runs(text).hashes.tolist())
    by_tokens: dict[bytes, list[str]] = defaultdict(list)
    every = {name: _runs(text) for name, text in submissions.items()}
    for name, own_runs in every.items():
        by_tokens[own_runs.hashes.tobytes()].append(name)
    twins = {names[0]: tuple(names[1:]) for names in by_tokens.values()}
    distinct = {name: replace(every[name], kept=every[name].kept - handed_out) for name in twins}
    runs = _without_common(distinct, len(submissions))
    pairs = sorted([*_between(runs, twins), *_identical(runs, twins, len(every))], reverse=True)
    # A class of thousands has a hundred thousand pairs: lines are looked for in those that may be reported.
    least = pairs[most - 1].share if len(pairs) > most else 0
    with_lines = (_with_lines(pair, every) for pair in pairs if pair.share >= least)
    alike = nsmallest(
        most, with_lines, key=lambda pair: (-pair.share, -len(pair.first_lines), pair.first, pair.second)
    )
    return tuple(alike), len(pairs) - len(alike)


def _runs(text: str) -> _TokenRuns:
    """All runs of a text's tokens; none where it cannot be parsed or is too short."""
    tokens = list(_tokens(text))
    if len(tokens) < RUN + WINDOW:
        return _TokenRuns(np.empty(0, np.uint64), np.empty(0, np.int64), frozenset())
    codes = np.array([crc32(word.encode("utf-8", "backslashreplace")) for word, _ in tokens], np.uint64)
    powers = np.array([pow(int(_BASE), power, 1 << 64) for power in range(RUN)], np.uint64)
    hashes = np.lib.stride_tricks.sliding_window_view(codes, RUN) @ powers
    hashes = hashes ^ (hashes >> np.uint64(29))
    windows = np.lib.stride_tricks.sliding_window_view(hashes, min(WINDOW, len(hashes)))
    fingerprints = frozenset(np.unique(windows.min(axis=1)).tolist())
    return _TokenRuns(hashes, np.array([line for _, line in tokens], np.int64), fingerprints)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens of a text with their lines; names, numbers and texts as one word each, no comment."""
    source = CppText(text)
    for node in walk(source.root, lambda node: node.type not in {"comment", "preproc_include", *_TEXTS}):
        if node.type in _TEXTS:
            yield "text", node.start_point[0] + 1
        elif node.child_count == 0 and node.type not in {"comment", "preproc_include"}:
            word = source.of(node)
            if node.type.endswith("identifier") and word not in _KEPT and not word.startswith("__"):
                word = "name"
            elif node.type == "number_literal":
                word = "number"
            yield word, node.start_point[0] + 1


def _without_common(runs: Mapping[str, _TokenRuns], size: int) -> dict[str, _TokenRuns]:
    """The runs without those that too many have."""
    owners = Counter(value for own_runs in runs.values() for value in own_runs.kept)
    most = max(3, min(MOST_OWNERS, int(COMMON_SHARE * size)))
    return {
        name: replace(own_runs, kept=frozenset(value for value in own_runs.kept if owners[value] <= most))
        for name, own_runs in runs.items()
    }


def _between(runs: Mapping[str, _TokenRuns], twins: Mapping[str, tuple[str, ...]]) -> Iterator[_Pair]:
    owners: dict[int, list[str]] = defaultdict(list)
    for name, own_runs in runs.items():
        if len(own_runs.kept) >= FEWEST:
            for value in own_runs.kept:
                owners[value].append(name)
    shared = Counter(pair for names in owners.values() for pair in combinations(names, 2))
    for (first, second), number in shared.items():
        share = number / min(len(runs[first].kept), len(runs[second].kept))
        if share >= LEAST_SHARE:
            yield _Pair(share, first, second, (*twins[first], *twins[second]))


def _identical(
    runs: Mapping[str, _TokenRuns], twins: Mapping[str, tuple[str, ...]], size: int
) -> Iterator[_Pair]:
    """Submissions whose tokens are all the same, unless many write just that."""
    for name, copies in twins.items():
        if copies and len(runs[name].kept) >= FEWEST and len(copies) <= max(3, COMMON_SHARE * size):
            yield _Pair(1.0, name, copies[0], copies[1:])


def _with_lines(pair: _Pair, every: Mapping[str, _TokenRuns]) -> Alike:
    first, second = every[pair.first], every[pair.second]
    lines = _shared_lines(first, second), _shared_lines(second, first)
    return Alike(pair.first, pair.second, pair.share, *lines, pair.same)


def _shared_lines(one: _TokenRuns, other: _TokenRuns) -> frozenset[int]:
    """The lines of tokens that are in a run which the other one has."""
    starts = np.isin(one.hashes, other.hashes)
    within = np.zeros(len(one.lines), bool)
    for offset in range(RUN):
        within[offset : offset + len(starts)] |= starts
    return frozenset(one.lines[within].tolist())
