"""The host's side of a run on a GPU: the jobs, what comes back of them, and what it says.

    Build ─request▶ jobs ─sandbox▶ Result ─answer▶ DeviceRun…  ─witnesses▶ Run, findings
                                          ─sanitizer▶ ToolReport ┘
                                          ─timing▶ Timing

What runs inside the sandbox is in the folder ``sandbox/`` at the root. CuPy is imported only there.
"""

NAME = "gpu"
"""What a grade calls this backend."""
