"""Wall time of `grader check` and of `grader grade` on 40 distinct submissions, cold and warm builds."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GRADER = [sys.executable, "-m", "grader"]
STUDENTS = 40


def timed(*arguments: str) -> float:
    """Seconds that a command takes; its output goes nowhere."""
    began = time.perf_counter()
    subprocess.run([*GRADER, *arguments], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def make_class(folder: Path) -> None:
    """40 different files: correct kernels and mistakes, each with a comment of its own."""
    sources = sorted((ROOT / "tests/kernels/correct").glob("*.cu")) + sorted(
        (ROOT / "reference/matmul/mistakes").glob("*.cu")
    )
    step = max(1, len(sources) // STUDENTS)
    for number, source in enumerate(sources[::step][:STUDENTS]):
        text = source.read_bytes()
        (folder / f"student{number:02}.cu").write_bytes(text + f"\n// student {number}\n".encode())


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, mine = Path(temporary) / "class", Path(temporary) / "mine.cu"
        folder.mkdir()
        make_class(folder)
        solution = ROOT / "reference/matmul/solution.cu"
        rows = []
        for attempt in range(3):  # a changed file each time: nvcc has to run
            mine.write_bytes(solution.read_bytes() + f"\n// {time.time_ns()} {attempt}\n".encode())
            rows.append(("check, new file", timed("check", "tiled-matmul", str(mine))))
        rows.append(("check, unchanged file", timed("check", "tiled-matmul", str(mine))))
        out = str(Path(temporary) / "out")
        rows.append(
            (
                f"grade, {STUDENTS} new files",
                timed("grade", "tiled-matmul", str(folder), "-o", out, "--no-cache"),
            )
        )
        rows.append(("grade again, all done", timed("grade", "tiled-matmul", str(folder), "-o", out)))
        shutil.rmtree(out)
    for name, seconds in rows:
        sys.stdout.write(f"{name:<26}{seconds:7.2f} s\n")


if __name__ == "__main__":
    main()
