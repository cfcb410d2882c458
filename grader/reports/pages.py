"""Shared parts of all pages: templates, style sheets, sentences, and the policy against other scripts.

A template escapes every value that it fills in, and all text is made visible (`grader.base.text`) as well. A
page works without its script; by a content security policy it forbids itself requests, and scripts and styles
other than ours, should anything slip through. In a sentence what stands in backticks is code, and chapters of
the guide are links.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from grader.base.text import below_headline, headline, many_lines, one_line
from grader.model.messages import text_of

if TYPE_CHECKING:
    from jinja2 import Environment, Template

LONGEST_LINE = 1_500
LONGEST_BLOCK = 4_000


def template(name: str) -> Template:
    """Give a template of the folder; it escapes what it fills in, and refuses a name that it is not given.

    ``words("cases", names=…)`` is a text of `grader.model.messages.reports` in the language of the grade.
    """
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    """Environment of all templates, which are compiled once each, also those that others extend."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - `check` writes no page

    environment = Environment(
        loader=PackageLoader("grader.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "headline": headline,
        "below_headline": below_headline,
        "line": lambda words: one_line(words, LONGEST_LINE),
        "prose": lambda words: prose(one_line(words, LONGEST_LINE)),
        "coded": lambda words: code_markup(one_line(words, LONGEST_LINE)),
        "lines": lambda words: many_lines(words, LONGEST_BLOCK),
    }
    environment.globals["words"] = text_of
    return environment


def page(
    name: str,
    *,
    style: str = "",
    script: str = "",
    embedded: tuple[str, str] | None = None,
    **values: object,
) -> str:
    """Fill a template that extends ``page.html.j2``, with the style sheet of all pages and its own.

    ``embedded`` are the hashes of the script and the style of a page that is shown within it.
    """
    more_script, more_style = embedded or ("", "")
    from markupsafe import Markup  # noqa: PLC0415 - as Jinja2

    style = asset("style.css") + style
    return template(name).render(
        style=Markup(style),  # noqa: S704 - ours
        style_hash=hash_of(style),
        script=Markup(script),  # noqa: S704 - ours
        script_hash=hash_of(script),
        more_script=more_script,
        more_style=more_style,
        **values,
    )


@cache
def asset(name: str) -> str:
    """Read a file of the templates' folder that is put into pages as it is."""
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    """Write the hash by which a content security policy allows a script or a style (CSP 3, section 2.3.1)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


GUIDE = "https://docs.nvidia.com/cuda/archive/12.9.1/cuda-c-programming-guide/index.html"
"""The release's own address, whose anchors stay."""

CHAPTERS = frozenset(
    {
        *("Assertion", "Atomic Functions", "Built-in Variables", "Device Memory Accesses"),
        *("Execution Configuration", "Floating-Point Standard", "Kernels", "Memory Fence Functions"),
        *("Shared Memory", "SIMT Architecture", "Synchronization Functions", "Thread Hierarchy"),
        *("Variable Memory Space Specifiers", "Warp Shuffle Functions"),
    }
)
"""Sections of the CUDA C++ Programming Guide by their titles, of which their anchors are made."""

_PIECES = re.compile(r"`([^`]+)`|“([^”]+)”")


def prose(words: str) -> Markup:
    """Write harmless text as markup."""
    written, end = Markup(""), 0
    for match in _PIECES.finditer(words):
        written += words[end : match.start()]
        written += _code(match[1]) if match[1] else _chapter(match[2])
        end = match.end()
    return written + words[end:]


def code_markup(words: str) -> Markup:
    """Write harmless text as markup that may stand in a link: what stands in backticks is code."""
    pieces = re.split(r"`([^`]+)`", words)
    return Markup("").join(_code(piece) if number % 2 else piece for number, piece in enumerate(pieces))


def _code(words: str) -> Markup:
    return Markup("<code>{}</code>").format(words)


def _chapter(title: str) -> Markup:
    if title not in CHAPTERS:
        return Markup("“{}”").format(title)
    anchor = re.sub(r"[^a-z0-9]+", "-", title.lower())
    return Markup('“<a href="{}#{}">{}</a>”').format(GUIDE, anchor, title)
