"""Race detection: what accesses there were, what ordered them, and which ones nothing ordered."""

from grader.emulator.races.log import AccessLog, TrackThisToo

__all__ = ["AccessLog", "TrackThisToo"]
