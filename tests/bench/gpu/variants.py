"""A class of distinct submissions: right kernels and mistakes, with names and comments of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from tests.bench.gpu.grading import MATMUL, ROOT
from tests.mistakes import mistake

_LOCAL = ("sum", "row", "col", "tx", "ty", "tileA", "tileB", "As", "Bs", "acc", "phase", "start")
"""Names that students choose for themselves; only where a file declares them as variables."""


@dataclass(frozen=True, slots=True)
class Original:
    """A file to make variants of, and the items that it must lose (None: unknown)."""

    name: str
    source: bytes
    loses: tuple[str, ...] | None


def reference_files() -> tuple[Original, ...]:
    """The staff's kernels and all mistakes, with what they must lose where no time is judged."""
    table = yaml.safe_load((MATMUL / "mistakes" / "mistakes.yaml").read_text("utf-8"))
    own = {"solution.cu": (), "double_buffered.cu": (), "naive.cu": ("reuse",)}
    return (
        *(Original(name, (MATMUL / name).read_bytes(), loses) for name, loses in own.items()),
        *(
            Original(name, mistake(MATMUL / "mistakes" / name), tuple(entry["loses"]))
            for name, entry in table.items()
        ),
    )


def right_files() -> tuple[Original, ...]:
    """Right kernels in many styles."""
    files = sorted((ROOT / "tests" / "kernels" / "correct").glob("*.cu"))
    return tuple(Original(file.name, file.read_bytes(), ()) for file in files)


def variant(source: bytes, number: int) -> bytes:
    """The same program with other names for its variables, and a comment of its own at the end."""
    text = source.decode("latin-1")  # where a byte is a character, whatever it was written in
    for name in _LOCAL:
        if _is_variable(name, text):
            text = re.sub(rf"\b{name}\b", f"{name}{number}", text)
    return f"{text}\n// submission {number}\n".encode("latin-1")


def _is_variable(name: str, source: str) -> bool:
    """Return whether every use of a name may be replaced: it is declared as a number or an array of such."""
    if re.search(rf'[.>:"]{name}\b|#.*\b{name}\b', source):
        return False
    return bool(re.search(rf"\b(?:int|float|double|unsigned)\s+(?:\w+\s*=[^;,]*,\s*)?{name}\b", source))


def a_class(count: int) -> dict[str, Original]:
    """A number of distinct submissions by name, half of them right; one at most never ends."""
    wrong = [each for each in reference_files() if each.loses]
    hangs = [each for each in wrong if each.name == "infinite_loop.cu"]
    wrong = [each for each in wrong if each not in hangs]
    right = list(right_files())
    half = (count + 1) // 2
    pairs = [each for pair in zip(_spread(right, half), _spread(wrong, half), strict=True) for each in pair]
    chosen = [*pairs[: count - len(hangs)], *hangs]
    return {
        f"student{number:02}": Original(each.name, variant(each.source, number), each.loses)
        for number, each in enumerate(chosen[:count])
    }


def _spread(files: list[Original], count: int) -> list[Original]:
    """A number of files, evenly spread over the list, from the start again where it has fewer."""
    if count <= len(files):
        return [files[index * len(files) // count] for index in range(count)]
    return [files[index % len(files)] for index in range(count)]
