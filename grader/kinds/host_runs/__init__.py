"""Runs of host code in the sandbox: beside an emulated device, on a GPU, or alone."""
