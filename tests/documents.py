"""The documents, and what tests read in them: fenced blocks, commands, links, headings."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))
ROOMS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("grader/**/README.md"))
ROOMS.remove("grader/cli/starter/README.md")  # the text of an assignment
DOCUMENTS = [
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", *PAGES),
    *(*ROOMS, "sandbox/README.md", "reference/README.md", "tests/bench/README.md"),
]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def read(document: str) -> str:
    """The text of a document, by its path in the repository."""
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str, language: str) -> list[str]:
    """The contents of its fenced blocks of a language."""
    return [content for named, content in FENCED.findall(read(document)) if named == language]


def prose(document: str) -> str:
    """The text without its fenced blocks."""
    return FENCED.sub("", read(document))


def code(document: str) -> str:
    """All that is set as code: fenced blocks, and what stands between backticks."""
    return "\n".join(
        [*(content for _, content in FENCED.findall(read(document))), *CODE.findall(prose(document))]
    )


def commands(document: str) -> list[str]:
    """The lines of all ``sh`` blocks, without their comments."""
    lines = (line.split(" #")[0].strip() for block in blocks(document, "sh") for line in block.splitlines())
    return [line for line in lines if line]


def links(document: str) -> list[tuple[Path, str]]:
    """Its links to files, each as the file and the anchor in it."""
    targets = [link for link in LINK.findall(CODE.sub("", prose(document))) if "://" not in link]
    split = (target.partition("#") for target in targets)
    return [((ROOT / document).parent / file if file else ROOT / document, name) for file, _, name in split]


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as the repository's web pages and the site make them."""
    headings = HEADING.findall(FENCED.sub("", path.read_text(encoding="utf-8")))
    texts = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in texts}
