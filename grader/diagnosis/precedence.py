"""Which mistakes of outputs are told before findings with a line, and which only after them."""

from __future__ import annotations

from grader.diagnosis.agreement import SAYS_WHERE

EXPLAINS_ALL = frozenset(
    {
        *("parameter-order", "another-rule-for-bins", "both-leading-dimensions", "tile-loop-bound"),
        *("a-transposed", "b-transposed", "both-transposed", "elementwise-product"),
    }
)
"""What an output shows and makes accesses go astray as well: told before them."""

VAGUE = frozenset(
    {
        *("values-not-counted", "counted-more-than-once", "updates-lost", "all-zeros", "adds-to-output"),
        "computes-nan",
        *("some-blocks", "some-blocks-of-vector", "partly-unwritten", "end-not-stored", "imprecise"),
        *("constant-factor", "constant-offset", "all-the-same", "every-second", "not-accumulated"),
        *("border-wrong", "block-borders-wrong", "change-scaled", "off-by-input", "counted-elsewhere"),
        *("numbers-misplaced", "numbers-twice", "numbers-from-elsewhere", "parts-reversed", "added-in-float"),
        *SAYS_WHERE,
    }
)
"""What outputs show whatever made them so: any finding with a line says more."""
