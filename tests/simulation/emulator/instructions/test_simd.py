"""Four bytes or two halves of a word at once, piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.simulation.emulator.instructions.harness import Case, check, names

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
EVERY = "add min max "
EVERY += "vadd2 vadd4 vsub2 vsub4 vavrg2 vavrg4 vabsdiff2 vabsdiff4 vmin2 vmin4 vmax2 vmax4 vset2 vset4 "


def _pieces(word: int, bits: int, kind: str) -> list[int]:
    parts = [word >> start & ((1 << bits) - 1) for start in range(0, 32, bits)]
    return [part - (part >> (bits - 1) << bits) if kind == "s32" else part for part in parts]


def _results(function: Callable[[int, int], int], bits: int, kind: str, a: int, b: int) -> list[int]:
    pairs = zip(_pieces(a, bits, kind), _pieces(b, bits, kind), strict=True)
    return [function(x, y) for x, y in pairs]


def _word(results: list[int], bits: int) -> int:
    return sum((result & ((1 << bits) - 1)) << place * bits for place, result in enumerate(results))


def _clamped(number: int, bits: int, kind: str) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "s32" else (0, (1 << bits) - 1)
    return max(low, min(high, number))


def _arithmetic() -> list[Case]:
    found = []
    for name, function in OPERATIONS.items():
        for bits in (8, 16):
            for kind in ("u32", "s32"):

                def results(
                    a: int, b: int, f: Callable[[int, int], int] = function, n: int = bits, k: str = kind
                ) -> list[int]:
                    return _results(f, n, k, a, b)

                text = f"{name}{32 // bits}.{kind}.{kind}.{kind}"
                operands = "{d}, {a}, {b}, {c};"
                found += [
                    Case(
                        f"{text} {operands}",
                        ("u32",),
                        ("u32",) * 3,
                        lambda a, b, _c, n=bits, r=results: _word(r(a, b), n),
                    ),
                    Case(
                        f"{text}.sat {operands}",
                        ("u32",),
                        ("u32",) * 3,
                        lambda a, b, _c, n=bits, k=kind, r=results: _word(
                            [_clamped(x, n, k) for x in r(a, b)], n
                        ),
                    ),
                    Case(
                        f"{text}.add {operands}",
                        ("u32",),
                        ("u32",) * 3,
                        lambda a, b, c, r=results: sum(r(a, b)) + c,
                    ),
                ]
    return found


def _comparisons() -> list[Case]:
    found = []
    for name, relation in RELATIONS.items():
        for bits in (8, 16):
            for kind in ("u32", "s32"):

                def results(
                    a: int, b: int, f: Callable[[int, int], bool] = relation, n: int = bits, k: str = kind
                ) -> list[int]:
                    return _results(f, n, k, a, b)

                text = f"vset{32 // bits}.{kind}.{kind}.{name}"
                found += [
                    Case(
                        f"{text} {{d}}, {{a}}, {{b}}, {{c}};",
                        ("u32",),
                        ("u32",) * 3,
                        lambda a, b, _c, n=bits, r=results: _word(r(a, b), n),
                    ),
                    Case(
                        f"{text}.add {{d}}, {{a}}, {{b}}, {{c}};",
                        ("u32",),
                        ("u32",) * 3,
                        lambda a, b, c, r=results: sum(r(a, b)) + c,
                    ),
                ]
    return found


def _pairs() -> list[Case]:
    found = []
    for name in ("add", "min", "max"):
        for kind, sign in (("u16x2", "u32"), ("s16x2", "s32")):

            def pair(
                a: int,
                b: int,
                f: Callable[[int, int], int] = OPERATIONS[f"v{name}"],
                k: str = sign,
                least: int = -(1 << 20),
            ) -> int:
                return _word([max(least, x) for x in _results(f, 16, k, a, b)], 16)

            found.append(Case(f"{name}.{kind} {{d}}, {{a}}, {{b}};", ("u32",), ("u32",) * 2, pair))
            if name != "add" and kind == "s16x2":
                for form in (f"{name}.relu.{kind}", f"{name}.{kind}.relu"):  # headers have the latter
                    text = f"{form} {{d}}, {{a}}, {{b}};"
                    found.append(Case(text, ("u32",), ("u32",) * 2, lambda a, b, f=pair: f(a, b, least=0)))
    return found


CASES = [*_arithmetic(), *_comparisons(), *_pairs()]


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_each_piece_is_computed_for_itself(case: Case) -> None:
    """With signs, clamped, or added up."""
    check(case)


def test_every_width_has_its_cases() -> None:
    """Bytes and halves, for each operation."""
    assert {case.name.split(".")[0] for case in CASES} == set(EVERY.split())
