"""The number of processors to keep busy: fewer than there are, where a container or a unit has a limit."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grader.base import processors

PACKAGE = Path(processors.__file__).parents[1]
POD = "kubepods/burstable/pod42"
V1_POD = f"4:memory:/{POD}/7\n3:cpu,cpuacct:/{POD}/7\n1:name=systemd:/{POD}/7\n"


@pytest.fixture(autouse=True)
def _a_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(64)))


def machine(folder: Path, groups: str | bytes, files: dict[str, str]) -> Path:
    """The root of a machine with these groups of this process, and files below their mount."""
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/self/cgroup").write_bytes(groups.encode() if isinstance(groups, str) else groups)
    for path, limit in files.items():
        target = folder / "sys/fs/cgroup" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(limit, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        pytest.param("0::/\n", {"cpu.max": "200000 100000\n"}, 2, id="v2, seen from inside"),
        pytest.param("0::/\n", {"cpu.max": "150000 100000\n"}, 2, id="one and a half are two"),
        pytest.param("0::/\n", {"cpu.max": "10000 100000\n"}, 1, id="a tenth is one"),
        pytest.param("0::/\n", {"cpu.max": "max 100000\n"}, 64, id="no limit"),
        pytest.param("0::/\n", {"cpu.max": "9000000 100000\n"}, 64, id="more than there are"),
        pytest.param(
            "0::/a.slice/b.service\n",
            {"a.slice/cpu.max": "300000 100000\n", "a.slice/b.service/cpu.max": "max 100000\n"},
            3,
            id="the group above has less",
        ),
        pytest.param(
            "0::/a.slice/b.service\n",
            {"a.slice/cpu.max": "300000 100000\n", "a.slice/other.service/cpu.max": "100000 100000\n"},
            3,
            id="another group's limit",
        ),
        pytest.param(
            V1_POD,
            {
                f"cpu,cpuacct/{POD}/7/cpu.cfs_quota_us": "-1\n",
                f"cpu,cpuacct/{POD}/7/cpu.cfs_period_us": "100000\n",
                f"cpu,cpuacct/{POD}/cpu.cfs_quota_us": "500000\n",
                f"cpu,cpuacct/{POD}/cpu.cfs_period_us": "100000\n",
            },
            5,
            id="v1, seen from the host",
        ),
        pytest.param(
            V1_POD,
            {"cpu,cpuacct/cpu.cfs_quota_us": "200000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
            2,
            id="v1, with the host's path in the container",
        ),
        pytest.param(
            V1_POD,
            {"memory/cpu.cfs_quota_us": "200000\n", "memory/cpu.cfs_period_us": "100000\n"},
            64,
            id="v1, another controller",
        ),
    ],
)
def test_the_least_limit_of_the_groups_on_the_way_up_counts(
    groups: str, files: dict[str, str], expected: int, tmp_path: Path
) -> None:
    """A pod with two processors on a node with 64 has two, by either version of control groups."""
    assert processors.available(machine(tmp_path, groups, files)) == expected


@pytest.mark.parametrize(
    "limit", ["", "max", "two 100000", "200000", "200000 0", "0 100000", "-5 100000", "1 2 3", "9" * 9999]
)
def test_a_limit_that_makes_no_sense_is_none(limit: str, tmp_path: Path) -> None:
    """Then as many count as the process may run on."""
    assert processors.available(machine(tmp_path, "0::/\n", {"cpu.max": limit})) == 64


@pytest.mark.parametrize(
    "groups",
    [b"", b"0::", b"nonsense\n", b"\xff\xfe:\x00", b"0::/a\x00b\n", b"0::/" + b"x" * 9999, b"0::/../b"],
)
def test_groups_that_cannot_be_read_limit_nothing(groups: bytes, tmp_path: Path) -> None:
    """Neither do those outside of what the process sees."""
    files = {"../b/cpu.max": "100000 100000\n"}
    assert processors.available(machine(tmp_path, groups, files)) == 64


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    """As on a system that has none of their files."""
    assert processors.available(tmp_path) == 64


def test_nothing_else_counts_processors() -> None:
    """Else a limit is forgotten; of a container's own limit Docker asks for no more than its machine has."""
    counting = re.compile(r"sched_getaffinity|cpu_count")
    files = {p.relative_to(PACKAGE) for p in PACKAGE.rglob("*.py") if counting.search(p.read_text("utf-8"))}
    assert {str(path) for path in files} == {"base/processors.py", "toolchain/sandbox/containers.py"}
