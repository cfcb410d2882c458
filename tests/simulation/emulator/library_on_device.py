"""Every kernel of the library on a real device and in the emulator, from the same PTX: bit for bit.

`pytest -m gpu` asserts it; ``python -m tests.simulation.emulator.library_on_device FOLDER`` writes
``library.json`` and ``library.txt`` there and goes on after whatever fails.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.ptx import parse
from tests.simulation.emulator import device
from tests.simulation.emulator.collection import EXAMPLES, comparable, differing, emulate, source
from tests.simulation.emulator.nvcc import HAZARDS, entries, ptx

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from tests.simulation.emulator.examples import Example

BUILDS = {"default": (), "O0": HAZARDS}
BY_NAME = {make.__name__: make for make in EXAMPLES}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a kernel in a build.

    ``verdict``: ``same`` bits, ``near`` (within the tolerance that the example gives a reason for),
    ``differs``, ``failed`` (here or there; ``detail`` has the error). ``unlike`` counts the elements whose
    bits are not the same, ``apart`` those beyond the tolerance, ``wrong`` those of the device that NumPy
    gives otherwise.
    """

    kernel: str
    build: str
    verdict: str
    elements: int = 0
    unlike: int = 0
    apart: int = 0
    wrong: int = 0
    findings: int = 0
    detail: str = ""


def compare(job: tuple[str, str, str]) -> Outcome:
    """Run a kernel (its name, its build, its PTX) here and there."""
    name, build, text = job
    example = BY_NAME[name]()
    there = _on_device(text, example)
    done = emulate(parse(text), name, example, detect=build == "O0")
    here = comparable(example, [array for _, array in done.outputs])
    pairs = list(zip(here, there, strict=True))
    unlike = sum(differing(ours, theirs, 0.0) for ours, theirs in pairs)
    apart = sum(differing(ours, theirs, example.apart) for ours, theirs in pairs)
    wanted = comparable(example, list(example.expected))
    wrong = sum(
        differing(theirs, right.reshape(theirs.shape).astype(theirs.dtype), example.within)
        for theirs, right in zip(there, wanted, strict=True)
    )
    verdict = "differs" if apart else "near" if unlike else "same"
    elements = sum(ours.size for ours in here)
    detail = done.findings[0].message if done.findings else example.because * bool(unlike)
    return Outcome(name, build, verdict, elements, unlike, apart, wrong, len(done.findings), detail)


def _on_device(text: str, example: Example) -> list[NDArray[Any]]:
    places = [place for place, value in enumerate(example.arguments) if isinstance(value, np.ndarray)]
    (entry,) = entries(parse(text))
    arrays = device.launch(text, entry, example.arguments, example.grid, example.block, example.shared)
    after = dict(zip(places, arrays, strict=True))
    return comparable(example, [after[place] for place in example.out])


def outcomes(names: Iterable[str]) -> Iterator[Outcome]:
    """Compile every kernel in both builds, then compare one after the other."""
    wanted = [(name, build) for name in names for build in BUILDS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda each: _compiled(*each), wanted))
    for each, text in zip(wanted, texts, strict=True):
        if isinstance(text, AssertionError):
            yield Outcome(*each, "failed", detail=f"does not compile: {text}"[:500])
    jobs = [(*each, text) for each, text in zip(wanted, texts, strict=True) if isinstance(text, str)]
    for (name, build, _), result in device.one_by_one(compare, jobs):
        yield result if isinstance(result, Outcome) else Outcome(name, build, "failed", detail=str(result))


def _compiled(name: str, build: str) -> str | AssertionError:
    try:
        return ptx(source(name), BUILDS[build], f"{name}.cu")
    except AssertionError as refusal:
        return refusal


def table(found: list[Outcome]) -> str:
    """A line for each kernel and build, and how many there were of each verdict."""
    lines = [f"{'kernel':24} {'build':8} {'verdict':8} elements   unlike    apart    wrong findings"]
    for one in found:
        numbers = f"{one.elements:8} {one.unlike:8} {one.apart:8} {one.wrong:8} {one.findings:8}"
        lines.append(f"{one.kernel:24} {one.build:8} {one.verdict:8} {numbers} {one.detail}".rstrip())
    counts = {verdict: sum(one.verdict == verdict for one in found) for verdict in VERDICTS}
    kernels = len({one.kernel for one in found})
    summary = ", ".join(f"{count} {VERDICTS[verdict]}" for verdict, count in counts.items())
    return "\n".join([*lines, "", f"{kernels} kernels, {len(found)} runs: {summary}", ""])


VERDICTS = {
    "same": "with the same bits",
    "near": "within their tolerance",
    "differs": "that differ",
    "failed": "that failed",
}


def main(folder: str, *names: str) -> int:
    """Compare all kernels, or those named, and write the two reports; 1 if any differs or failed."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    found = []
    for outcome in outcomes(names or BY_NAME):
        found.append(replace(outcome, detail=" ".join(outcome.detail.split())))
        sys.stdout.write(f"{outcome.kernel} {outcome.build}: {outcome.verdict} {outcome.detail}\n")
        sys.stdout.flush()
    report = {"on": device.description(), "runs": [asdict(outcome) for outcome in found]}
    (out / "library.json").write_text(json.dumps(report, indent=1))
    (out / "library.txt").write_text(table(found))
    sys.stdout.write(table(found))
    return int(any(outcome.verdict in ("differs", "failed") for outcome in found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
