"""Programs that attack their device: each is cut off or refused, in bounded time.

They are files of the battery (`sandbox/attacks/programs/device_*.cu`), which tries them in each sandbox, too.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from attacks.table import FOLDER, load_attacks

from grader.classroom.course.download import read_download
from grader.grading.assignment import load_assignment
from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.running.device.device import MOST_MISTAKES
from grader.running.device.requests import OPERATIONS
from grader.toolchain.nvcc import build_program
from tests.running.device.hosts import Ran, serve

if TYPE_CHECKING:
    from pathlib import Path

    from attacks.table import Attack

    from grader.model import Build
    from grader.toolchain.nvcc import Tools

SECONDS, LIMITED = 30.0, 1.5
"""Seconds that a session may take here, and those of an attack on its time."""

FILES = {attack.name: attack for attack in load_attacks() if attack.device}
WAYS = [(attack.name, *way) for attack in FILES.values() for way in attack.device]
TAKES_ITS_TIME = ("half a message", "a payload that never comes", "answers that nobody reads")


@pytest.fixture(scope="module")
def builds() -> dict[str, Build]:
    """The files that were compiled already."""
    return {}


def _ran(builds: dict[str, Build], tools: Tools, attack: Attack, way: str, folder: Path) -> Ran:
    """One way of an attack, against a device of its own."""
    if attack.name not in builds:
        interface = load_assignment(FOLDER / "assignment").program
        builds[attack.name] = build_program(tools, read_download(attack.path).submissions[0], interface)
    build = builds[attack.name]
    assert build.ok, build
    program = folder / "program"
    program.write_bytes(build.program)
    program.chmod(0o755)
    device = EmulatedDevice(build, attack.path.name, "", 1 << 26, 10**5).device
    seconds = LIMITED if way in TAKES_ITS_TIME else SECONDS
    return serve(program, f"device={way}", device=device, seconds=seconds, folder=folder)


@pytest.mark.parametrize(("name", "way", "reason"), WAYS)
def test_an_attack_on_the_device_comes_to_nothing(
    name: str, way: str, reason: str, builds: dict[str, Build], own_tools: Tools, tmp_path: Path
) -> None:
    """It is cut off with a reason, or refused as a device would; and the session ends in its time."""
    began = time.monotonic()
    ran = _ran(builds, own_tools, FILES[name], way, tmp_path)
    assert time.monotonic() - began < SECONDS + 30
    assert "reached: " not in ran.stdout
    if way in TAKES_ITS_TIME:
        reason = "when its time was over"
    assert reason in ran.cut
    assert bool(reason) is bool(ran.cut)
    assert ran.cut or "tried: " in ran.stdout
    assert len(ran.device.mistakes) <= MOST_MISTAKES


def test_attacks_speak_the_protocol() -> None:
    """Operations have the numbers of the stand-in, and of the session: an attack by another would be none."""
    sources = (FOLDER / "assignment" / "device.h", FOLDER.parent / "runtime" / "wire.hpp")
    texts = (source.read_text(encoding="utf-8") for source in sources)
    (attacks,), (runtime,) = (re.findall(r"enum class Operation[^{]*{([^}]*)}", text) for text in texts)
    names = [re.findall(r"\w+", text.replace("= 1", "")) for text in (attacks, runtime)]
    assert names[0] == names[1]
    assert len(names[0]) == len(OPERATIONS)
