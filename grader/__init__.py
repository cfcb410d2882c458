"""CUDA autograder: real ``nvcc``, a SIMT emulator or a GPU, and feedback that names the line."""

__version__ = "0.1.0"
