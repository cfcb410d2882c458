"""The labelled kernels under NVIDIA's compute-sanitizer, beside what the emulator finds.

``python -m tests.simulation.emulator.sanitizer_suite FOLDER [file.cu …]`` on a machine with a GPU, nvcc, CuPy
and compute-sanitizer writes ``sanitizer.json`` and ``sanitizer.md`` to FOLDER and the tools' logs beside
them.

Each file is built as the build for hazards is, without optimisation, and run under each tool in a process of
its own, many at a time. A kernel that never ends is killed with its process after a while, and the rest of
the file goes on in a new one; kernels that are known to hang have a process each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.simulation.emulator import nvcc
from tests.simulation.emulator.labelled import Expected, finding_key, findings, kernels, sources
from tests.simulation.emulator.sanitizer_log import reports
from tests.simulation.emulator.sanitizer_table import TOOLS, Outcome, Row, markdown

if TYPE_CHECKING:
    from grader.simulation.ptx import Module
    from tests.simulation.emulator.labelled import Kernel

OPTIONS = (
    "--print-limit",
    "100000",
    "--show-backtrace",
    "no",
    "--report-api-errors",
    "no",
    "--launch-timeout",
    "120",
)
BUILD = (*nvcc.HAZARDS, "-Xptxas", "-O0", "-cubin")
ROOT = Path(__file__).parents[3]
PROCESSES = 12
START_SECONDS = 120
"""For a process until its first kernel begins: the device, the tool and CuPy start."""
HANG_SECONDS = 30
"""For a kernel, from beginning to end; without a tool none takes a second."""
MOST_PROCESSES = 20
"""For one file and tool; more than that many kernels of one file cannot all fail."""


@dataclass(frozen=True)
class Job:
    """Some kernels of a built file under one tool; ``folder`` takes the logs."""

    tool: str
    cubin: Path
    source: Path
    names: tuple[str, ...]
    folder: Path


def sanitizer() -> str:
    """Path of compute-sanitizer: on the PATH, or where the toolkit puts it."""
    places = [shutil.which("compute-sanitizer"), *Path("/usr/local").glob("cuda*/bin/compute-sanitizer")]
    for place in places:
        if place and Path(place).exists():
            return str(place)
    raise FileNotFoundError("compute-sanitizer is not installed: it comes with the CUDA toolkit")


def architecture() -> str:
    """Return nvcc's name of the first device of this machine, such as ``sm_90``."""
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return "sm_" + done.stdout.split()[0].replace(".", "")


def build(name: str, folder: Path, arch: str) -> Path:
    """The cubin of a file of labelled kernels, with lines."""
    source, cubin = folder / name, folder / f"{name}.cubin"
    source.write_text(sources()[name])
    command = [nvcc.compiler(), f"-arch={arch}", *BUILD, "-o", str(cubin), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise RuntimeError(f"nvcc refuses {name}:\n{done.stderr}")
    return cubin


def watched(job: Job) -> dict[str, Outcome]:
    """Run a job's kernels under its tool, in a new process after each that hangs or fails."""
    outcomes = {name: Outcome() for name in job.names}
    for attempt in range(MOST_PROCESSES):
        left = [name for name in job.names if outcomes[name].state == "not launched"]
        if not left:
            break
        if not _one_process(job, left, f"{job.source.stem}-{job.tool}-{job.names[0]}-{attempt}", outcomes):
            break
    return outcomes


def _one_process(job: Job, names: list[str], stem: str, outcomes: dict[str, Outcome]) -> bool:
    """One process; whether it launched anything at all."""
    log, progress = job.folder / f"{stem}.log", job.folder / f"{stem}.progress"
    launcher = [
        sys.executable,
        "-m",
        "tests.simulation.emulator.sanitizer_launch",
        job.cubin,
        job.source,
        progress,
        *names,
    ]
    command = [sanitizer(), "--tool", job.tool, *OPTIONS, *map(str, launcher)]
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)
        timed_out = not _ends(process, progress)
        if timed_out:
            os.killpg(process.pid, signal.SIGKILL)  # the tool and the process it started
            process.wait()
    text = log.read_text(errors="replace")
    _note_progress(progress.read_text() if progress.exists() else "", outcomes, timed_out=timed_out)
    for report in reports(text):
        if report.kernel in names:
            outcomes[report.kernel].reports.append(report)
    launched = progress.exists() and bool(progress.read_text())
    if not launched:
        for name in names:
            outcomes[name].error = text[-500:]
    return launched


def _ends(process: subprocess.Popen[bytes], progress: Path) -> bool:
    """Wait for a process as long as its kernels come to their ends."""
    seen, since = 0, time.monotonic()
    while process.poll() is None:
        size = progress.stat().st_size if progress.exists() else 0
        if size != seen:
            seen, since = size, time.monotonic()
        if time.monotonic() - since > (HANG_SECONDS if seen else START_SECONDS):
            return False
        time.sleep(0.1)
    return True


def _note_progress(progress: str, outcomes: dict[str, Outcome], *, timed_out: bool) -> None:
    """Read what a process wrote about its kernels; the one that it did not end is the one that ended it."""
    for line in progress.splitlines():
        word, name, *rest = line.split(" ", 2)
        outcome = outcomes[name]
        outcome.state = {"begin": "hung" if timed_out else "failed", "end": "ended", "fault": "failed"}[word]
        outcome.error = rest[0] if rest else ""


def jobs(name: str, cubin: Path, folder: Path) -> list[Job]:
    """A file's jobs: one for each tool, and one for each kernel that may hang."""
    every = kernels(sources()[name])
    calm = tuple(kernel.name for kernel in every if not kernel.hangs)
    found_jobs = []
    for tool in TOOLS:
        found_jobs.append(Job(tool, cubin, folder / name, calm, folder))
        alone = [(kernel.name,) for kernel in every if kernel.hangs]
        found_jobs += [Job(tool, cubin, folder / name, names, folder) for names in alone]
    return found_jobs


def emulated(names: list[str]) -> dict[tuple[str, str], list[Expected]]:
    """The emulator's findings in each kernel of some files; one that it cannot run has an ``error``."""
    chosen = {name: text for name, text in sources().items() if name in names}
    modules = nvcc.compile_all(chosen, nvcc.HAZARDS)
    return {
        (name, kernel.name): _emulated(modules[name], name, kernel)
        for name, source in chosen.items()
        for kernel in kernels(source)
    }


def _emulated(module: Module, name: str, kernel: Kernel) -> list[Expected]:
    try:
        return sorted({finding_key(each) for each in findings(module, name, kernel)}, key=str)
    except Exception as error:  # noqa: BLE001 - the tools' results must not be lost for it
        return [Expected("error", type(error).__name__, None, None, str(error), "error")]


def run_suite(folder: Path, names: list[str] | None = None) -> list[Row]:
    """Everything, for some files or all; gives the table's rows and writes them to ``folder``."""
    folder = folder.absolute()
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    chosen, arch = list(names or sources()), architecture()
    with ThreadPoolExecutor(PROCESSES) as pool:
        cubins = dict(zip(chosen, pool.map(lambda name: build(name, logs, arch), chosen), strict=True))
        work = [job for name in chosen for job in jobs(name, cubins[name], logs)]
        work.sort(key=lambda job: len(job.names) > 1)  # what may hang takes longest
        done = zip(work, list(pool.map(watched, work)), strict=True)
    outcomes = {
        (job.source.name, name, job.tool): outcome for job, each in done for name, outcome in each.items()
    }
    ours = emulated(chosen)
    rows = [
        Row(
            name,
            kernel.name,
            sorted(kernel.expected, key=str),
            ours[name, kernel.name],
            {tool: outcomes[name, kernel.name, tool] for tool in TOOLS},
        )
        for name in chosen
        for kernel in kernels(sources()[name])
    ]
    about = {"device": _first_line("nvidia-smi", "-L"), "sanitizer": _first_line(sanitizer(), "--version")}
    text = json.dumps({**about, "kernels": [asdict(row) for row in rows]}, indent=1)
    (folder / "sanitizer.json").write_text(text + "\n")
    (folder / "sanitizer.md").write_text(markdown(about, rows))
    return rows


def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    lines = [line for line in done.stdout.splitlines() if re.search(r"\d", line)]
    return re.sub(r" \(UUID.*", "", lines[0]) if lines else ""


if __name__ == "__main__":
    run_suite(Path(sys.argv[1]), sys.argv[2:] or None)
    sys.stdout.write((Path(sys.argv[1]) / "sanitizer.md").read_text())
