"""Race detection: what accesses there were, what ordered them, and which ones nothing ordered.

`log` keeps accesses and judges them at barriers and at the end. `conflicts` says which pairs conflict
given all that could, `pairs` where more than whole blocks synchronise, with the clocks of `ordering`;
`launchwide` finds the suspects in global memory. `rows` are the records of accesses, `event` and `events`
what orders them.
"""

from grader.emulator.races.log import AccessLog, RestartTracking

__all__ = ["AccessLog", "RestartTracking"]
