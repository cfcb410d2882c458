"""Kernels of many kinds whose times are measured and estimated.

No constant of a model may be fitted to the kernels of `CORPUS`. Those of `CALIBRATION` are the bundled
assignments' own, and are there for that.
"""

from __future__ import annotations

from tests.bench.estimate import bundled, products, tasks
from tests.bench.estimate.heldout import HELD_OUT
from tests.bench.estimate.heldout2.kernels import HELD_OUT_2
from tests.bench.estimate.records import ROOT, Array, Kernel, Scalar, Shape, kernels, value_of

CORPUS = tuple(kernel for family in (*products.FAMILIES, *tasks.FAMILIES) for kernel in kernels(family))
CALIBRATION = tuple(kernel for family in bundled.FAMILIES for kernel in kernels(family))
PARTS = {"corpus": CORPUS, "calibration": CALIBRATION, "held-out": HELD_OUT, "held-out-2": HELD_OUT_2}
"""The parts that are measured and compared, each by itself."""

__all__ = ["CALIBRATION", "CORPUS", "PARTS", "ROOT", "Array", "Kernel", "Scalar", "Shape", "value_of"]
