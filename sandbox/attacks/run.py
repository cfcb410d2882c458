"""`grader doctor --attack`: does the sandbox hold, here and now?

Every attack that comes with the grader is graded as a submission would be, beside honest neighbours, on a
machine laid out with bait; then it is looked for what came back, who was reached, and what was left.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

from attacks import device_code
from attacks.battery import Battery, Tried
from attacks.table import load_attacks
from attacks.world import World
from grader.base.errors import UsageError
from grader.cli import setup

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from attacks.table import Attack
    from grader.running.backends import Backend
    from grader.toolchain.nvcc import Tools

_OURS = 3
MOST_JOBS = 2
"""More at a time would measure how the machine copes with load, and end by time what should end otherwise."""


def run(options: argparse.Namespace) -> int:
    """Try the attacks that were asked for, all by default; 0 where every one was contained, else 3."""
    options.sandbox = options.attacked
    gpus = setup.gpus(options)
    tools = setup.tools(options, gpus, strangers=True)
    if not tools.sandbox.shuts_in:
        raise UsageError(
            f"--sandbox {tools.sandbox.name} shuts nothing in: these attacks would do to this machine what "
            "they try; use --sandbox docker or --sandbox bubblewrap"
        )
    backend = setup.backend(options, tools, gpus)
    chosen, left_out = select(
        load_attacks(), options.attack, tools.sandbox.name, has_gpu=backend.pool is not None
    )
    devices, why = device_code.select(
        options.attack, with_device_code=options.device_code or backend.pool is not None
    )
    console = setup.console()
    console.print(f"{len(chosen) + len(devices)} attacks, sandbox {tools.sandbox.name}")
    tried = list(_reported(console, _everything(tools, backend, chosen, devices, options.jobs)))
    for name, reason in (*left_out, *why):
        console.print(f"{'left out':<14} {name:<26} {reason}", soft_wrap=True)
    bad = [attempt for attempt in tried if not attempt.contained]
    attacks = len(chosen) + len(devices)
    console.print(
        f"\n{attacks} attacks: {len(bad)} complaint{'s' * (len(bad) != 1)}, see above"
        if bad
        else f"\nall {attacks} attacks were contained, and nothing was left"
    )
    setup.write(options.json, report(tools.sandbox.name, tried, (*left_out, *why)))
    return _OURS if bad else 0


def select(
    attacks: Iterable[Attack], names: Iterable[str], sandbox: str, *, has_gpu: bool
) -> tuple[tuple[Attack, ...], tuple[tuple[str, str], ...]]:
    """The attacks to try here, and those that are left out, each with the reason.

    Raises UsageError for a name that no attack has.
    """
    everything = tuple(attacks)
    stems = {name.removesuffix(".cu") for name in names}
    unknown = stems - {attack.name for attack in everything} - device_code.names()
    if unknown:
        raise UsageError(f"no attack is named {', '.join(sorted(unknown))}; `sandbox/README.md` lists them")
    named = [attack for attack in everything if not stems or attack.name in stems]
    reasons = [(attack, _obstacle(attack, sandbox, has_gpu=has_gpu)) for attack in named]
    return (
        tuple(attack for attack, reason in reasons if not reason),
        tuple((attack.name, reason) for attack, reason in reasons if reason),
    )


def _obstacle(attack: Attack, sandbox: str, *, has_gpu: bool) -> str:
    if sandbox not in attack.contained_by:
        return f"not contained by {sandbox}: that takes {' or '.join(attack.contained_by)}"
    if attack.needs_gpu and not has_gpu:
        return "needs a GPU, and none is used here"
    return ""


def _everything(
    tools: Tools,
    backend: Backend,
    chosen: tuple[Attack, ...],
    devices: tuple[str, ...],
    jobs: int,
) -> Iterator[Tried]:
    with ExitStack() as stack:
        if chosen:
            world = stack.enter_context(World())
            yield from Battery(world, tools, backend).run(chosen, min(jobs, MOST_JOBS))
    if devices:
        yield from device_code.run(devices, tools, backend)


def _reported(console: Console, tried: Iterable[Tried]) -> Iterator[Tried]:
    """Print each as it comes."""
    for attempt in tried:
        word = "contained" if attempt.contained else "NOT CONTAINED"
        console.print(f"{word:<14} {attempt.name:<36} {attempt.ended:<17} {attempt.seconds:6.1f} s")
        for complaint in attempt.complaints:
            console.print(f"{'':<14} {complaint}", soft_wrap=True)
        yield attempt


def report(sandbox: str, tried: Iterable[Tried], left_out: Iterable[tuple[str, str]]) -> str:
    """The outcome of every attack as JSON, for programs."""
    rows = [
        {
            "name": attempt.name,
            "contained": attempt.contained,
            "ended": attempt.ended,
            "seconds": round(attempt.seconds, 2),
            "complaints": list(attempt.complaints),
        }
        for attempt in tried
    ]
    return json.dumps({"sandbox": sandbox, "tried": rows, "left_out": dict(left_out)}, indent=1) + "\n"
