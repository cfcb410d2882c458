"""The processor time that commands take to start, beside `import numpy`.

`python -m tests.bench.start_up [--pairs 15]`

Each is run in turn with `import numpy`, so that a busy machine slows both; printed is the median ratio.
Byte code has to be kept: where `PYTHONDONTWRITEBYTECODE` is set, every start compiles all modules.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

NUMPY = (sys.executable, "-c", "import numpy")
GRADER = (sys.executable, "-m", "grader")
STARTS = {
    "check --help": ((*GRADER, "check", "--help"), 1.8),
    "grade --help": ((*GRADER, "grade", "--help"), 3.5),
    "the modules of a check": (
        (sys.executable, "-c", "import grader.cli.check, grader.kinds.kernel.stages"),
        2.5,
    ),
}
"""Commands by name, each with the ratio that it should not exceed."""


def seconds(command: tuple[str, ...]) -> float:
    """The processor time of a process, its own and the system's; raises CalledProcessError where it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def ratios(command: tuple[str, ...], pairs: int) -> list[float]:
    """The ratios to `import numpy`, in order; one pair before those that count fills caches."""
    every = [seconds(command) / seconds(NUMPY) for _ in range(pairs + 1)]
    return sorted(every[1:])


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=15)
    options = parser.parse_args()
    for name, (command, aim) in STARTS.items():
        values = ratios(command, options.pairs)
        low, high = values[len(values) // 4], values[3 * len(values) // 4]
        line = f"{statistics.median(values):.2f} × import numpy ({low:.2f} to {high:.2f}, at most {aim})"
        sys.stdout.write(f"{name}: {line}\n")


if __name__ == "__main__":
    main()
