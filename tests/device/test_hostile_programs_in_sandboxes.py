"""Programs that attack their device out of each sandbox come to nothing, as they do without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.device.device import Device
from grader.device.memory import DeviceMemory
from grader.device.service import channel, serve
from grader.nvcc import Tools, find_toolchain, toolchain_in
from grader.nvcc.runtime import OBJECT, stand_in
from grader.sandbox import Job, Limits, Stage
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox_choice import container
from tests.device.hosts import HEAD, NoLaunches
from tests.device.test_hostile_programs import ATTACKS, hostile_source

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]

SECONDS, LIMITED = 60.0, 0.7
"""What a session may take, and where an attack is about its time; a run is ended soon after its session."""

HONEST = "threads that all talk at once"


def _bubblewrap() -> Tools:
    toolchain = find_toolchain()
    return Tools(toolchain, BubblewrapSandbox(toolchain.roots))


def _docker() -> Tools:
    sandbox = container(gpu=False)
    return Tools(toolchain_in(sandbox, find_toolchain().architecture), sandbox)


def _program(tools: Tools) -> bytes:
    """All attacks in one program, compiled where it is run."""
    include = f"-I{tools.toolchain.roots[0]}/include"
    options = ("-g1", "-O1", "-no-pie", include, "host.cpp", OBJECT, "-o", "host")
    files = (("host.cpp", (HEAD + hostile_source()).encode()), (OBJECT, stand_in(tools)))
    result = tools.sandbox.run(Job((tools.toolchain.host_compiler, *options), files, ("host",)))
    assert result.outcome.ok, result.outcome.stderr
    return result.file("host") or b""


@pytest.mark.parametrize("make_tools", [_bubblewrap, _docker])
def test_no_attack_on_the_device_gets_anywhere_out_of_a_sandbox(make_tools: Callable[[], Tools]) -> None:
    """Each is cut off for its reason or refused, and a program that asks as it should is served after all."""
    tools = make_tools()
    program, wrong = _program(tools), {}
    with channel() as folder, tools.sandbox.stage(Stage(Limits(), channel=str(folder))) as sandbox:
        for name in (*ATTACKS, HONEST):
            attack = ATTACKS[name]
            seconds = LIMITED if "its time" in attack.cut else SECONDS
            device = Device(DeviceMemory(64 << 20), NoLaunches())
            limits = Limits(wall_seconds=LIMITED + 1.0 if attack.cut else SECONDS)
            with serve(device, folder, seconds) as served:
                files = (("host", program),)
                result = sandbox.run(Job(("./host", name), files, (), limits, served.environment))
            device.memory.close()
            is_cut = bool(served.cut) is bool(attack.cut) and attack.cut in served.cut
            if not is_cut or result.outcome.stdout.decode() != attack.printed:
                wrong[name] = (served.cut, result.outcome)
    assert wrong == {}
