"""A trace as a page that plays it: one file with script, style and data in it, and no request.

The page may run its own script and use its own style, by their hashes, and nothing else (Content Security
Policy level 3, section 6.7.3.2). What students wrote is data: made visible (`grader.text`), in a block that
ends no script however it reads, and put on the page as text, never as markup.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from grader.reports import trace_json
from grader.reports.html import template
from grader.reports.trace_text import extent

if TYPE_CHECKING:
    from grader.model.trace import TraceScene

_SCRIPTS = ("state.js", "grids.js", "words.js", "page.js")


def render(scene: TraceScene) -> str:
    """Write the page; ``#step=12`` shows the twelfth step of it, ``&thread=5`` the numbers of a thread."""
    from markupsafe import Markup  # noqa: PLC0415 - only who writes a page needs it

    script = f'"use strict";\n{"".join(map(_part, _SCRIPTS))}'
    style = _part("style.css")
    return template("trace.html.j2").render(
        title=f"{scene.title}: {scene.kernel}, block ({', '.join(map(str, scene.trace.block))})",
        scene=_scene(scene),
        file=scene.file,
        style=Markup(style),  # noqa: S704 - ours
        style_hash=_hash(style),
        script=Markup(script),  # noqa: S704 - ours
        script_hash=_hash(script),
        data=Markup(_harmless(trace_json.dump(scene).strip())),  # noqa: S704 - made harmless
    )


def _part(name: str) -> str:
    return files(__package__).joinpath("trace_page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _harmless(data: str) -> str:
    """JSON in which no character can end the element that it is in (HTML, section 4.12.1.3)."""
    return data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _scene(scene: TraceScene) -> str:
    launch = scene.trace.launch
    sizes = ", ".join(f"{name} = {size}" for name, size in scene.shape)
    return (
        f"case {scene.case}: {sizes}; inputs {scene.inputs}, seed {scene.seed}; "
        f"grid {extent(launch.grid)}, block {extent(launch.block)}"
    )
