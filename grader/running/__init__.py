"""Execution of builds and its speed: the emulator or a GPU, the device of programs, the estimate."""
