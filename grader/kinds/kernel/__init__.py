"""Submissions of kind ``kernel``: CUDA source with kernels, which the emulator runs, or a GPU beside it."""
