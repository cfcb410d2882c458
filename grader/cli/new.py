"""`grader new`: an assignment that works as it stands, to be changed into one's own.

    DIR/assignments/ID/   assignment.yaml, README.md, skeleton.cu       what students get
    DIR/reference/ID/     oracle.py, naive.cu, solution.cu, mistakes/   the staff's

Without `--like` it is a small elementwise kernel with comments; with it, a copy of another assignment.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import StorageError, UsageError
from grader.cli import setup
from grader.grading.assignment import find_assignment, load_assignment
from grader.grading.assignment.bundled import require_staff_files, staff_folders

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from grader.model import Assignment

STARTER = Path(__file__).parent / "starter"
STARTER_ID, STARTER_TITLE, STARTER_KERNEL = "starter", "Multiply and add", "multiplyAdd"
FOR_STUDENTS = ("assignment.yaml", "README.md", "skeleton.cu")

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
KERNEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def run(options: argparse.Namespace) -> int:
    """Write the files, read the assignment back, and say what to do next."""
    name = _checked(options.id, ID, "an id of letters, digits, - _ . that begins with a letter or digit")
    setup.require_folder(options.folder)
    folders = (options.folder / "assignments" / name, options.folder / "reference" / name)
    for folder in folders:
        if folder.exists():
            raise UsageError(f"{folder} is there already; choose another id, or another folder with --in")
    files = _copied(options, name) if options.like else _started(options, name)
    for (folder, file), content in files.items():
        _write(folders[folder] / file, content)
    load_assignment(folders[0])  # what was just written must be sound
    console = setup.console()
    console.print(f"{len(files)} files in {folders[0]} and {folders[1]}")
    console.print(f"next: grader validate {folders[0]}")
    return 0


Files = dict[tuple[int, str], bytes]
"""Files by folder (0: the assignment's, 1: the reference's) and path inside it."""


def _started(options: argparse.Namespace, name: str) -> Files:
    """The small assignment that comes with the grader, under other names."""
    title = _title(options.title or _answer("title", STARTER_TITLE))
    kernel = _checked(
        options.kernel or _answer("kernel", STARTER_KERNEL), KERNEL, "a kernel's name as C has them"
    )

    def renamed(text: str) -> str:
        text = re.sub(rf"\b{STARTER_KERNEL}\b", kernel, text)
        return re.sub(rf"(?<=[ /]){STARTER_ID}(?=[/ \n])", name, text)

    files = {}
    for file in _files(STARTER):
        inside = file.relative_to(STARTER).as_posix()
        text = renamed(file.read_text(encoding="utf-8"))
        files[int(inside not in FOR_STUDENTS), inside] = _titled(inside, text, title).encode()
    return files


def _titled(file: str, text: str, title: str) -> str:
    """The title in the two places that show it; in YAML in quotes, which any text may stand in."""
    if file == "assignment.yaml":
        return _line(text, "title", json.dumps(title, ensure_ascii=False))
    return text.replace(f"# {STARTER_TITLE}\n", f"# {title}\n", 1) if file == "README.md" else text


def _copied(options: argparse.Namespace, name: str) -> Files:
    """Files of another assignment, with the new id and its own reference."""
    if options.kernel:
        raise UsageError("--kernel goes with a fresh assignment; with --like the kernel's name is copied")
    copied = find_assignment(options.like)
    require_staff_files(copied)
    like = load_assignment(copied)
    title = _title(options.title or _answer("title", f"{like.title} ({name})"))

    def changed(file: Path) -> bytes:
        content = file.read_bytes()
        if file.suffix not in {".yaml", ".md"} or file.parent != like.path:
            return content
        text = content.decode("utf-8")
        if file.name == "assignment.yaml":
            text = _line(_line(text, "id", name), "title", json.dumps(title, ensure_ascii=False))
            return (_line(text, "reference", name) if like.reference else text).encode()
        return re.sub(rf"(grader \w+ ){re.escape(like.id)}\b", rf"\g<1>assignments/{name}", text).encode()

    files = {(0, file.relative_to(like.path).as_posix()): changed(file) for file in _files(like.path)}
    return files | {(1, inside): file.read_bytes() for inside, file in _staffs(like)}


def _staffs(like: Assignment) -> Iterator[tuple[str, Path]]:
    """The staff's files of an assignment; its own ones last, where several share an operation."""
    folders = staff_folders(like.reference, like.id, like.path)
    for folder in reversed(folders):
        for file in _files(folder):
            inside = file.relative_to(folder)
            if len(inside.parts) == 1 or (folder == folders[0] and inside.parts[0] == "mistakes"):
                yield inside.as_posix(), file


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith("."):
            yield file


def _line(text: str, key: str, value: str) -> str:
    """A key at the top of a YAML file with another value; a comment behind it stays."""
    pattern = re.compile(rf"^{key}:[^\n#]*?(?=(?:\s+#[^\n]*)?$)", re.MULTILINE)
    written: Callable[[re.Match[str]], str] = lambda _: f"{key}: {value}"  # noqa: E731 - the value may hold \
    return pattern.sub(written, text, count=1)


def _answer(question: str, default: str) -> str:
    """Answer at a terminal; the default elsewhere, and where none is given."""
    if not sys.stdin.isatty():
        return default
    return input(f"{question} [{default}]: ").strip() or default


def _title(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise UsageError("expected a title of one line without control characters")
    return text.strip()


def _checked(text: str, pattern: re.Pattern[str], expected: str) -> str:
    if not pattern.fullmatch(text):
        raise UsageError(f"expected {expected}, found `{text[:80]}`")
    return text


def _write(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as problem:
        raise StorageError(f"{file}: cannot be written: {problem.strerror}") from None
