"""Several observers look on as one."""

from __future__ import annotations

from grader.simulation.emulator.machine.machine import Observer
from grader.simulation.emulator.observers import ObserverGroup


def test_several_observers_pass_every_event_on() -> None:
    """An event that `ObserverGroup` inherits would reach none of them, and no other test would show it."""
    events = {name for name, value in vars(Observer).items() if callable(value)}
    assert "interval_ended" in events
    assert events - vars(ObserverGroup).keys() == set()
