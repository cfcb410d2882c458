"""Race detection: what accesses there were, what ordered them, and which ones nothing ordered."""

from grader.emulator.hazards.log import AccessLog, LogFullError, TrackThisToo

__all__ = ["AccessLog", "LogFullError", "TrackThisToo"]
