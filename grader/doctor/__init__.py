"""What this machine can do, tried rather than assumed: the compiler, the emulator, sandboxes and GPUs."""

from grader.doctor.examination import can_grade, examine, uses_gpu
from grader.doctor.finding import Finding

__all__ = ["Finding", "can_grade", "examine", "uses_gpu"]
