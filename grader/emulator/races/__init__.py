"""Race detection: what accesses there were, what ordered them, and which ones nothing ordered."""

from grader.emulator.races.log import AccessLog, RestartTracking

__all__ = ["AccessLog", "RestartTracking"]
