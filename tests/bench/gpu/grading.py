"""Helpers of the experiments: the command line, run on a folder of files, and the results that it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[3]
MATMUL = ROOT / "reference" / "matmul"
ASSIGNMENT = "tiled-matmul"
SEED = "20"

_OURS = 3
"""The exit status of a batch with an error of ours, and also of a command that could not go on."""

Grade: TypeAlias = "dict[str, Any]"
"""One grade.json."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A graded folder: wall seconds of the command, and the grades by submission id."""

    seconds: float
    grades: dict[str, Grade]


def command(*arguments: str, cache: Path | None = None, tools: bool = True) -> float:
    """Wall seconds of a `grader` command; raises RuntimeError where it could not do its work at all.

    ``cache`` is where it keeps builds, instead of the user's own place; without ``tools`` no sanitizer runs.
    """
    environment = dict(os.environ, GRADER_DEBUG="1")
    if not tools:
        environment["GRADER_SANITIZER"] = "none"
    if cache is not None:
        environment["XDG_CACHE_HOME"] = str(cache)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    output = done.stderr.decode(errors="replace")[-2000:]
    gave_up = done.returncode == _OURS and any(line.startswith("grader: ") for line in output.splitlines())
    if gave_up or done.returncode not in (0, 1, _OURS):
        raise RuntimeError(f"grader {' '.join(arguments)} ended with {done.returncode}: {output}")
    return seconds


def grade(
    assignment: str,
    submissions: Path,
    out: Path,
    *options: str,
    backend: str = "gpu",
    cache: Path | None = None,
    tools: bool = True,
) -> Batch:
    """Grade a folder of our own files on a backend, going on where an earlier attempt stopped."""
    given = ("--backend", backend, "--seed", SEED, "--i-trust-these-files", *options)
    seconds = command("grade", assignment, str(submissions), "-o", str(out), *given, cache=cache, tools=tools)
    return Batch(seconds, read(out))


def read(out: Path) -> dict[str, Grade]:
    """The grades in an ``OUT/`` folder, by submission id."""
    files = sorted((out / "grades").glob("*/grade.json"))
    return {file.parent.name: json.loads(file.read_text("utf-8")) for file in files}


def failed_items(graded: Grade) -> list[str]:
    """The items that it fails."""
    return [item["id"] for item in graded["items"] if item["verdict"] == "fail"]


def kinds(graded: Grade) -> set[str]:
    """The kinds of its findings."""
    return {finding["kind"] for item in graded["items"] for finding in item["findings"]}


def errors(graded: Grade) -> list[str]:
    """Return the failures on our side: the messages of items that end as an error, or of the whole grade."""
    messages = [f"{item['id']}: {item['message']}" for item in graded["items"] if item["verdict"] == "error"]
    return messages or ([graded["error"]] if graded["error"] else [])


def median_of(graded: Grade, ratio: str = "speedup") -> float | None:
    """The median of ``speedup``, ``control`` or ``solution``; None where it was not timed."""
    found = (graded["timing"] or {}).get(ratio)
    return None if found is None else float(found["median"])


def put(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    """Write files into a folder of their own, and give the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def students(source: str, names: Iterable[str]) -> dict[str, bytes | str]:
    """The same file handed in by several: it is built once, and everything else is done for each."""
    return {f"{name}/matmul.cu": source for name in names}


def stored(path: Path, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - JSON
    """The content of ``path``; if there is no such file yet, the result of ``make``, which is kept there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(make(), indent=1), "utf-8")
        part.replace(path)
    return json.loads(path.read_text("utf-8"))


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; floats with three decimals, a dash where there is nothing."""
    lines = [list(map(_cell, row)) for row in (headers, *rows)]
    lines.insert(1, ["---"] * len(headers))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    if value is None or value == "":
        return "–"
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return " ".join(text.replace("|", "\\|").split())


def report(folder: Path, name: str, text: str) -> None:
    """Print a text, and keep it as ``folder/name.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text, "utf-8")
    sys.stdout.write(text)
    sys.stdout.flush()
