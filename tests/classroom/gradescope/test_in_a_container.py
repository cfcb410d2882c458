"""The whole archive in a container laid out as Gradescope lays it out: root, Debian, no network, no GPU.

Set-up gets its packages from a folder of wheels instead of PyPI; else nothing is different there.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import docker
import pytest

from grader.cli import main
from tests.classroom.gradescope.container_folder import GROUP, RACE, SOLUTION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker.models.containers import Container

pytestmark = [pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(600)]

IMAGE = "grader-test-gradescope"
RECIPE = """\
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends g++ python3 python3-venv
"""
"""The packages that set-up would fetch with apt: there is no network in the container."""

PLANTED = "nobody-may-read-4711"
HERE = "/autograder"
PROGRAM = "/second"
"""A folder like the first, of an assignment whose host code is run, too."""


@dataclass(frozen=True, slots=True)
class Gradescope:
    """A container in which set-up is done, and the folder that it sees as ``/autograder``."""

    container: Container
    folder: Path

    def grade(self, source: bytes, root: str = HERE, metadata: object = GROUP) -> tuple[dict[str, Any], str]:
        """The results for a file, and what was printed; for the second root without the shell script."""
        folder = self.folder if root == HERE else self.folder.parent / PROGRAM.strip("/")
        for name in ("submission", "results"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir()
        (folder / "submission" / "mine.cu").write_bytes(source)
        (folder / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
        command = ["/autograder/run_autograder"] if root == HERE else _second(root)
        _, printed = executed(self.container, command)
        results: dict[str, Any] = json.loads((folder / "results" / "results.json").read_bytes())
        return results, printed


def executed(container: Container, command: list[str]) -> tuple[int, str]:
    """The exit code of a command in the container, and what it printed."""
    code, printed = container.exec_run(command)
    assert isinstance(printed, bytes)
    return int(code or 0), printed.decode()


def _second(root: str) -> list[str]:
    home = "/opt/cuda-grader"
    return [
        "sh",
        "-c",
        f"PYTHONPATH={home}/program {home}/venv/bin/python -P -m grader.classroom.gradescope.run {root}",
    ]


@pytest.fixture(scope="module")
def gradescope(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gradescope]:
    """Built as Gradescope builds it: the zip is unpacked, set-up is run, its script copied."""
    client = docker.from_env()
    recipe = io.BytesIO(RECIPE.encode())
    client.images.build(fileobj=recipe, tag=IMAGE, network_mode="host")
    base = tmp_path_factory.mktemp("gradescope")
    folder = _unpacked(base, HERE, "tiled-matmul")
    _unpacked(base, PROGRAM, "matmul-program")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(base / "wheels")]
    subprocess.run([*pip, "-r", str(folder / "source/requirements.txt")], check=True, capture_output=True)
    volumes = {
        str(folder): {"bind": HERE},
        str(base / PROGRAM.strip("/")): {"bind": PROGRAM},
        str(base / "wheels"): {"bind": "/wheels", "mode": "ro"},
    }
    container = client.containers.run(
        IMAGE,
        ["sleep", "infinity"],
        detach=True,
        network_mode="none",
        volumes=volumes,
        working_dir=HERE,
        mem_limit="1536m",
        environment={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels"},
    )
    try:
        code, printed = executed(container, [f"{HERE}/source/setup.sh"])
        assert code == 0, printed
        assert "90 of 90 points" in printed
        for root in (folder, base / PROGRAM.strip("/")):  # planted, for tests to look for
            for path in (root / "source" / "assignments").rglob("assignment.yaml"):
                path.write_text(f"{path.read_text(encoding='utf-8')}# {PLANTED}\n", encoding="utf-8")
        yield Gradescope(container, folder)
    finally:
        container.remove(force=True)


def _unpacked(base: Path, root: str, assignment: str) -> Path:
    folder = base / root.strip("/")
    archive = base / f"{assignment}.zip"
    assert main(["export-gradescope", assignment, "-o", str(archive), "--seed", "5"]) == 0
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(folder / "source")
    for name in ("setup.sh", "run_autograder"):
        (folder / "source" / name).chmod(0o755)
    (folder / "run_autograder").write_bytes((folder / "source" / "run_autograder").read_bytes())
    (folder / "run_autograder").chmod(0o755)
    return folder


def test_it_grades_without_a_gpu_and_without_a_network(gradescope: Gradescope) -> None:
    """The solution has full marks, a race costs its item and is quoted; whose it is goes along."""
    results, printed = gradescope.grade(SOLUTION)
    assert results["score"] == 90
    assert results["output"].startswith(
        "handed in 2026-11-02 10:30:00-07:00\nhanded in for Ada Lovelace and Grace"
    )
    assert results["extra_data"]["best_score"] == 85
    assert "seed 5" in printed
    results, _ = gradescope.grade(RACE)
    race = next(test for test in results["tests"] if test["name"] == "Threads wait for each other")
    assert (race["status"], race["score"]) == ("failed", 0)
    assert "> 17 |" in race["output"]


READING = {
    "#include": b'#include "/autograder/source/assignments/tiled-matmul/assignment.yaml"\n' + SOLUTION,
    "a solution": b'#include "/autograder/source/reference/matmul/solution.cu"\n',
    "earlier results": b'#include "/autograder/submission_metadata.json"\n' + SOLUTION,
    "a link": b'#include "/proc/self/root/autograder/source/harness.json"\n' + SOLUTION,
    "whether it is there": b'#if __has_include("/autograder/source/harness.json")\n#error THERE\n#endif\n'
    + SOLUTION,
}


@pytest.mark.parametrize("name", READING)
def test_no_file_of_the_staffs_can_be_compiled_in(gradescope: Gradescope, name: str) -> None:
    """Not a hidden case, a solution or an earlier result; and no student learns that it is there."""
    results, _ = gradescope.grade(READING[name])
    written = json.dumps(results)
    assert PLANTED not in written
    assert "long-inner" not in written  # a hidden case
    assert "THERE" not in written
    assert results["score"] == 0


HOST = rb"""
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void show(const char* path) {
    char text[4096];
    FILE* file = fopen(path, "r");
    if (!file) return;
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    printf("READ %s %s\n", path, text);
    fclose(file);
}
struct Spy {
    Spy() {
        show("/second/source/assignments/matmul-program/assignment.yaml");
        show("/second/source/harness.json");
        show("/second/submission_metadata.json");
        show("/proc/1/environ");
        if (FILE* results = fopen("/second/results/results.json", "w")) printf("WROTE\n");
        if (opendir("/second/source")) printf("LISTED\n");
        if (setuid(0) == 0) printf("ROOT\n");
        kill(-1, SIGSTOP);
        printf("%d\n", getuid());
        fflush(stdout);
        _exit(0);
    }
} spy;
"""
INCBIN = rb"""
__asm__(".section .rodata\n.incbin \"/second/source/assignments/matmul-program/assignment.yaml\"\n.text");
"""


def test_host_code_is_another_user_and_reads_nothing_of_the_staffs(gradescope: Gradescope) -> None:
    """It runs, as a user of its own: no hidden case, result or process of the grader's is in its reach."""
    own = (gradescope.folder.parent / PROGRAM.strip("/") / "source/reference/matmul/matmul-program").glob(
        "*.cu"
    )
    solution = next(own).read_bytes()
    results, printed = gradescope.grade(solution, PROGRAM)
    assert results["score"] == results_of_full_marks(results), printed
    results, printed = gradescope.grade(solution + HOST, PROGRAM)
    written = json.dumps(results) + printed
    assert PLANTED not in written
    for word in ("READ /second", "READ /proc", "WROTE", "LISTED", "ROOT"):
        assert word not in written, word
    assert "score" in results
    results, printed = gradescope.grade(INCBIN + solution, PROGRAM)
    assert PLANTED not in json.dumps(results) + printed
    assert results["score"] == 0


def results_of_full_marks(results: dict[str, Any]) -> float:
    """The sum of what could be had."""
    return float(sum(test.get("max_score", 0) for test in results["tests"]))


def test_results_are_there_even_if_the_grader_is_not(gradescope: Gradescope) -> None:
    """A Python that does not start leaves a sentence and no score."""
    module = "/opt/cuda-grader/program/grader/grading/score.py"
    executed(gradescope.container, ["mv", module, f"{module}.gone"])
    try:
        results, _ = gradescope.grade(SOLUTION)
    finally:
        executed(gradescope.container, ["mv", f"{module}.gone", module])
    assert "through no fault of the submission" in results["output"]
    assert "score" not in results
