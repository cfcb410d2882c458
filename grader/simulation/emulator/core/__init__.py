"""The native core: it executes launches that have nothing wrong with them at the speed of the machine.

`NativeKernel.attempt` executes a launch warp by warp in C++, with bounds, races, unset memory and counters.
As soon as anything may be wrong, or an instruction comes that the core does not execute, it stops, and the
caller runs the launch on the interpreter in NumPy, which says what is wrong and where. So findings have one
author, and a launch without findings costs little.
"""

from grader.simulation.emulator.core.execution import CERTAIN, OUT_OF_WORK, PAUSED, Attempt, NativeKernel

__all__ = ["CERTAIN", "OUT_OF_WORK", "PAUSED", "Attempt", "NativeKernel"]
