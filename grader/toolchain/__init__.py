"""Interfaces to all outside this process: nvcc, the GPU's harness and tools, sandboxes."""
