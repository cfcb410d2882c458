"""What this machine can do, tried rather than assumed: the compiler, the emulator, sandboxes and GPUs."""

from grader.doctor.examination import can_grade, examine, uses_gpu
from grader.doctor.report_line import ReportLine

__all__ = ["ReportLine", "can_grade", "examine", "uses_gpu"]
