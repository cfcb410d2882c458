"""A SIMT interpreter for PTX in NumPy: every access of every thread is seen.

``run(module, entry, launch, arguments) -> Run`` in `grader.simulation.emulator.launch` is the whole
interface.
"""
