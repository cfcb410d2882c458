"""The native library: what takes most of the time of a check, in C++ behind a plain C interface.

Its parts stand beside the Python that calls them: the emulator's core, the execution of machine code, and the
simulated multiprocessor of `grader.running.estimate`. Here are the numbers that they share, and what compiles
and loads them.
"""
