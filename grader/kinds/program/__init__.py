"""Submissions of kind ``program``: a file with ``main``, run in the sandbox, on a GPU if it calls CUDA."""
