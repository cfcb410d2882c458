"""What this machine can do, tried rather than assumed: the compiler, the emulator, sandboxes and GPUs."""

from grader.doctor.examination import ClassWishes, can_grade, examine, examine_class, uses_gpu
from grader.doctor.report_line import Mark, ReportLine

__all__ = ["ClassWishes", "Mark", "ReportLine", "can_grade", "examine", "examine_class", "uses_gpu"]
