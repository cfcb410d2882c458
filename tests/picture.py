"""The README's picture: what `grader check` prints about a tiled product without its first barrier.

``python -m tests.picture`` draws it anew. Only the beginning is shown, up to the first race.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.mistakes import mistake_file

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs/feedback.svg"
SUBMISSION = mistake_file(ROOT / "reference/matmul/mistakes/no_first_barrier.cu")
WIDTH = 96
COMMAND = ("grader", "check", "tiled-matmul", "mine.cu")


def feedback() -> str:
    """The output of the command, with its colours, up to what follows the first race."""
    with TemporaryDirectory() as folder:
        shutil.copy(SUBMISSION, Path(folder) / "mine.cu")
        arguments = [sys.executable, "-m", *COMMAND, "--backend", "emulator", "--width", str(WIDTH)]
        environment = os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color", "PYTHONUTF8": "1"}
        environment.pop("NO_COLOR", None)
        process = subprocess.run(
            arguments, cwd=folder, env=environment, check=False, capture_output=True, text=True
        )
    beginning, further, _ = process.stdout.partition("    - ")
    if process.returncode != 1 or not further:
        raise RuntimeError(f"expected feedback with a race and a warning: {process.stdout}{process.stderr}")
    return beginning.rstrip()


def draw(printed: str) -> str:
    """The picture of a terminal with the command and what it printed; fonts are the reader's own."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text(f"$ {' '.join(COMMAND)}\n", style="bold"))
    console.print(Text.from_ansi(printed))
    svg = console.export_svg(title=COMMAND[0], theme=MONOKAI, unique_id="feedback")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def words(svg: str) -> list[str]:
    """All words of a picture, whatever version of rich drew it."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", svg, re.DOTALL)
    return unescape(" ".join(texts)).replace("\N{NO-BREAK SPACE}", " ").split()


if __name__ == "__main__":
    FILE.write_text(draw(feedback()), encoding="utf-8")
