"""Race detection: records of accesses, the events that order them, and the accesses left unordered.

`log` keeps accesses and judges them at barriers and at the end. `conflicts` says which pairs conflict among
all that could, `pairs` where more than whole blocks synchronise, with the clocks of `ordering`; `launchwide`
finds the suspects in global memory. `rows` are the records of accesses, `event` and `events` the events that
order them.
"""

from grader.simulation.emulator.races.log import AccessLog, RestartTracking

__all__ = ["AccessLog", "RestartTracking"]
