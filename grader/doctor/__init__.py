"""What this machine can do, tried rather than assumed: the compiler, the emulator, sandboxes and GPUs."""

from grader.doctor.examination import ReportLine, can_grade, examine, uses_gpu

__all__ = ["ReportLine", "can_grade", "examine", "uses_gpu"]
