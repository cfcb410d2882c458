"""Which files the site consists of: documents from all over the repository, and what they link to.

MkDocs takes its pages from one folder. This hook takes the pages that `nav` names from where they lie, so one
relative link works on the site as it does in the repository. A page that is missing fails the build.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig

ROOT = Path(__file__).resolve().parents[1]
LINKED = (
    "LICENSE",
    "assignments/schema.json",
    "assignments/tiled-matmul/assignment.yaml",
    "assignments/memory-analysis/assignment.yaml",
    "assignments/matmul-function/assignment.yaml",
    "assignments/tile-phases/assignment.yaml",
    "assignments/boundary-safe-lesson/assignment.yaml",
    "docs/check.ipynb",
    "docs/feedback.svg",
    "docs/site.css",
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The theme's files, the pages of `nav` and every page of `docs/`, by their paths in the repository."""
    documents = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")}
    paths = sorted({*_pages(config.nav), *documents, *LINKED})
    theme = [file for file in files if file.src_dir != config.docs_dir]
    ours = [File(path, str(ROOT), config.site_dir, config.use_directory_urls) for path in paths]
    return Files([*theme, *ours])


def _pages(entry: Any) -> Iterator[str]:  # noqa: ANN401 - lists and mappings, nested as YAML has them
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict | list):
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages(inner)
