"""Facts that the container engine reports about itself, and what follows from them."""

from __future__ import annotations

import importlib.util
import re
import socket
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.authoring.doctor import Mark
from grader.authoring.doctor import containers as doctor_containers
from grader.base.errors import ToolMissing
from grader.toolchain.sandbox import engine
from grader.toolchain.sandbox.engine import known_escapes

if TYPE_CHECKING:
    from pathlib import Path

VERSION: dict[str, Any] = {
    "Version": "20.10.24+dfsg1",
    "Components": [
        {"Name": "Engine", "Version": "20.10.24+dfsg1", "Details": {"GitCommit": "5d6db84"}},
        {"Name": "containerd", "Version": "1.6.20~ds1", "Details": {"GitCommit": "1.6.20~ds1-1+deb12u3"}},
        {"Name": "runc", "Version": "1.1.5+ds1", "Details": {"GitCommit": "1.1.5+ds1-1+deb12u1"}},
    ],
}
INFO: dict[str, Any] = {
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=default"],
    "CgroupVersion": "2",
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "Runtimes": {"runc": {"path": "runc"}, "io.containerd.runc.v2": {"path": "runc"}},
    "OSType": "linux",
}
LOCAL = "http+docker://localhost"


def facts(**changed: object) -> engine.EngineFacts:
    """Those of a sound engine, with some of its answers changed."""
    return engine.read_facts(VERSION, INFO | changed, LOCAL)


def runc(version: str, commit: str = "") -> engine.EngineFacts:
    """Those of a sound engine with this runc."""
    return replace(facts(), runc=(version, commit))


def test_facts_are_read_from_the_engines_answers() -> None:
    """Versions, commits, security options and limits come from where the API has them."""
    read = facts()
    assert (read.version, read.runc) == ("20.10.24+dfsg1", ("1.1.5+ds1", "1.1.5+ds1-1+deb12u1"))
    assert (read.security, read.cgroups) == (("apparmor", "seccomp"), "2")
    assert dict(read.limits) == {"memory": True, "swap": True, "processes": True, "CPU time": True}
    assert (read.rootless, read.local, read.nvidia_runtime, read.nvidia_devices) == (
        False,
        True,
        False,
        False,
    )


def test_missing_answers_count_as_not_there() -> None:
    """An engine that reports nothing is not taken for one that can do everything."""
    read = engine.read_facts({}, {}, LOCAL)
    assert (read.version, read.runc, read.security) == ("unknown", ("", ""), ())
    assert not any(dict(read.limits).values())
    assert engine.refusals(read)


def test_gpus_are_seen_by_runtime_by_device_and_by_folder(tmp_path: Path) -> None:
    """NVIDIA's runtime, a device that the engine names, or a description in its folders: each is enough."""
    assert facts(Runtimes={"nvidia": {}}).nvidia_runtime
    assert facts(DiscoveredDevices=[{"Source": "cdi", "ID": "nvidia.com/gpu=all"}]).nvidia_devices
    (tmp_path / "nvidia.yaml").touch()
    assert facts(CDISpecDirs=[str(tmp_path)]).nvidia_devices
    assert not facts(CDISpecDirs=[str(tmp_path / "none")]).nvidia_devices


@pytest.mark.parametrize(
    ("version", "names"),
    [
        ("1.1.5", ["CVE-2024-21626", "CVE-2025-31133"]),
        ("1.1.11", ["CVE-2024-21626", "CVE-2025-31133"]),
        ("1.1.12", ["CVE-2025-31133"]),
        ("1.2.7", ["CVE-2025-31133"]),
        ("1.2.8", []),
        ("1.3.0", ["CVE-2025-31133"]),
        ("1.3.2", ["CVE-2025-31133"]),
        ("1.3.3", []),
        ("1.4.0", []),
        ("v1.1.5", ["CVE-2024-21626", "CVE-2025-31133"]),
        ("", []),
    ],
)
def test_known_escapes_are_those_of_the_version(version: str, names: list[str]) -> None:
    """Each version of runc is reported with the escapes that it has, and no others."""
    escapes = known_escapes(runc(version, "v1.1.5-0-gf19387a6"))
    assert len(escapes) == len(names)
    assert all(name in sentence for name, sentence in zip(names, escapes, strict=True))
    assert not any("distribution" in sentence for sentence in escapes)


@pytest.mark.parametrize(
    ("version", "commit"),
    [
        ("1.1.5+ds1", "1.1.5+ds1-1+deb12u1"),
        ("1.1.7-0ubuntu1~22.04.2", ""),
        ("1.1.9", "1.1.9-1.el9"),
    ],
)
def test_a_distribution_may_have_patched_an_old_version(version: str, commit: str) -> None:
    """The number of a version with a distribution's mark is no proof, and the message states that."""
    escapes = known_escapes(runc(version, commit))
    assert escapes
    assert all("unless your distribution has patched it" in sentence for sentence in escapes)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"SecurityOptions": ["name=apparmor"]}, "no seccomp"),
        ({"SecurityOptions": None}, "no seccomp"),
        ({"PidsLimit": False}, "cannot limit processes"),
        ({"MemoryLimit": False, "CpuCfsQuota": None}, "cannot limit memory and CPU time"),
        ({"MemoryLimit": False, "SecurityOptions": ["name=seccomp", "name=rootless"]}, "cgroup v2"),
        ({"OSType": "windows"}, "for Linux"),
    ],
)
def test_an_engine_that_cannot_shut_in_is_refused(changed: dict[str, object], reason: str) -> None:
    """Features that the sandbox depends on must be there, or nothing runs, and the reason is reported."""
    refused = engine.refusals(facts(**changed))
    assert len(refused) == 1
    assert reason in refused[0]


def test_a_sound_engine_is_not_refused() -> None:
    """An engine that has everything has no shortcoming; our own profile replaces the engine's."""
    assert engine.refusals(facts()) == ()
    assert engine.refusals(facts(SecurityOptions=["name=seccomp,profile=unconfined"])) == ()
    assert engine.shortcomings(facts()) == ()


@pytest.mark.parametrize("address", ["http://10.0.0.7:2375", "https://host:2376", "http+docker://ssh"])
def test_an_engine_elsewhere_is_refused(address: str) -> None:
    """A daemon on another machine would mix up whose containers and whose GPU they are."""
    (refused,) = engine.refusals(engine.read_facts(VERSION, INFO, address))
    assert "another machine" in refused


def test_unlimited_swap_is_a_shortcoming_only() -> None:
    """Without accounting of swap the sandbox still works, and reports what is not limited."""
    assert engine.refusals(facts(SwapLimit=False)) == ()
    assert "swap" in engine.shortcomings(facts(SwapLimit=False))[0]


def test_without_the_package_the_message_explains_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK is optional; a user who needs it is shown what to type."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ToolMissing, match=re.escape("pip install 'docker>=7.0'")):
        engine.connect()
    (entry,) = doctor_containers.examine()
    assert entry.mark is Mark.UNKNOWN
    assert "pip install 'docker>=7.0'" in entry.fix


def test_without_an_engine_the_message_explains_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No socket: there is none to start; `doctor` goes on, and does not call it well."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(engine.EngineGone, match="no socket here; install one"):
        engine.connect()
    (entry,) = doctor_containers.examine()
    assert (entry.mark, entry.stops) == (Mark.NONE, False)
    assert "not used" in entry.state


def test_an_engine_that_does_not_run_is_to_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket without a listener: the engine is installed and stopped."""
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(f"{tmp_path}/docker.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with pytest.raises(engine.EngineGone, match="systemctl start docker"):
        engine.connect()


def test_a_socket_that_one_may_not_use_names_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission denied: join the group."""

    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(engine, "_knock", refuse)
    with pytest.raises(engine.EngineGone, match="group `docker`"):
        engine.connect()


def test_doctor_reports_the_engine_and_each_escape() -> None:
    """One line for the engine; an escape is not fine, has a remedy, and does not prevent grading."""
    lines = list(doctor_containers.about_engine(facts()))
    assert [line.mark for line in lines] == [Mark.OK, Mark.PROBLEM, Mark.PROBLEM]
    assert lines[0].state == "answers: 20.10.24+dfsg1, runc 1.1.5+ds1, with apparmor, seccomp, cgroup v2"
    assert lines[1].fix == "update it to 1.1.12 or newer"
    assert not any(line.needed for line in lines[1:])


def test_doctor_reports_why_an_engine_is_refused() -> None:
    """A refused engine is one line that is not fine, with the reason."""
    lines = list(doctor_containers.about_engine(replace(facts(SecurityOptions=[]), runc=("1.3.3", ""))))
    assert [(line.mark, line.needed) for line in lines] == [(Mark.PROBLEM, False)]
    assert "seccomp" in lines[0].fix


@pytest.mark.docker
def test_the_engine_here_answers() -> None:
    """Facts of a real engine: it is local, on Linux, has seccomp and limits, and may be used."""
    real = engine.engine_facts()
    assert real.local
    assert "seccomp" in real.security
    assert engine.refusals(real) == ()


@pytest.mark.parametrize("trouble", ["", "bubblewrap is not installed; get it with apt-get"])
def test_the_doctor_reports_whether_a_bubblewrap_works(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to do where it does not; a machine can grade without."""
    monkeypatch.setattr("grader.toolchain.sandbox.bubblewrap.trouble", lambda: trouble)
    entry = doctor_containers.about_bubblewrap()
    assert (entry.mark, entry.subject) == (Mark.NONE if trouble else Mark.OK, "bubblewrap")
    assert entry.fix == trouble
    assert entry.state.startswith("not used" if trouble else "works")
