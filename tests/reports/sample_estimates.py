"""Estimates made by hand: what a model would say of the sample grades' kernel, and why it may say nothing."""

from __future__ import annotations

from grader.model import Estimate, EstimatedChange, KernelEstimate, LimitShare, Ratio

SHAPE = (("M", 1024), ("K", 1024), ("N", 1024))

ESTIMATE = Estimate(
    device="h200",
    device_name="NVIDIA H200",
    baseline="naive",
    shape=SHAPE,
    ratio=Ratio(1.5203, 1.311, 1.7042),
    error_bound=0.124,
    kernels=(
        (
            "student",
            KernelEstimate(
                0.281,
                (
                    LimitShare("shared", 0.62, ((13, 0.55), (9, 0.04))),
                    LimitShare("issue", 0.21, ((13, 0.06), (12, 0.05), (9, 0.01))),
                    LimitShare("barrier", 0.12, ((11, 0.12),)),
                    LimitShare("launch", 0.05),
                ),
                0.75,
            ),
        ),
        (
            "naive",
            KernelEstimate(0.4272, (LimitShare("l1", 0.8, ((7, 0.8),)), LimitShare("issue", 0.2)), 1.0),
        ),
    ),
    changes=(
        EstimatedChange("fewer-shared-loads", 2.6031, 13),
        EstimatedChange("no-barriers", 1.72),
    ),
    compared=4352,
)
"""A tiled product that is limited by its shared loads."""

UNKNOWN_OPCODE = Estimate("h200", problem="machine-code", details=(("opcode", "HGMMA"),))
