"""Examination of containers: the engine, how a container may get out of it, the images."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from grader.authoring.doctor import Mark, ReportLine
from grader.base.errors import GraderError, OurError
from grader.toolchain.sandbox import bubblewrap, engine, image
from grader.toolchain.sandbox.engine import known_escapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.toolchain.sandbox.engine import EngineFacts
    from grader.toolchain.sandbox.image import SandboxImage

SUBJECTS = ("docker", "image", "bubblewrap")
"""Subjects of its lines: none keeps a machine from grading."""

TARGETS = (*image.TARGETS, image.THIN)

_MORE = "without it strangers' files are compiled in a bubblewrap, where that works"


def make_image(target: str, progress: Callable[[str], None]) -> str:
    """Make the image of a target and say what it is; ``progress`` is called with each line of the build.

    Raises as `image.build_image` and `verify` do, and OurError for an engine that cannot be trusted.
    """
    refused = engine.refusals(engine.engine_facts())
    if refused:
        raise OurError(f"this engine is not fit for strangers' code: {'; '.join(refused)}")
    built = image.build_image(target, progress)
    return _described(built, image.verify(built))


def examine() -> Iterator[ReportLine]:
    """A line for the engine, one for each known escape, one for each image; one where there is no engine."""
    if importlib.util.find_spec("docker") is None:
        state = f"not looked for: its Python package is not installed; {_MORE}"
        yield ReportLine(Mark.UNKNOWN, "docker", state, engine.HOW_TO_GET_SDK)
        return
    try:
        facts = engine.engine_facts()
    except GraderError as problem:
        yield ReportLine(Mark.NONE, "docker", f"not used; {_MORE}", str(problem))
        return
    yield from about_engine(facts)
    if not engine.refusals(facts):
        yield from _images()


def about_bubblewrap() -> ReportLine:
    """Report whether strangers' files can be compiled and run in a bubblewrap here: one is made."""
    trouble = bubblewrap.trouble()
    state = "not used" if trouble else "works: strangers' files can be compiled and run in it, without a GPU"
    return ReportLine(Mark.NONE if trouble else Mark.OK, "bubblewrap", state, trouble)


def about_engine(facts: EngineFacts) -> Iterator[ReportLine]:
    """Report the kind of an engine, and what is wrong with it."""
    refused = engine.refusals(facts)
    if refused:
        reasons = "; ".join(refused)
        yield ReportLine(Mark.PROBLEM, "docker", f"{facts.version} cannot be used", reasons, needed=False)
    else:
        yield ReportLine(Mark.OK, "docker", f"answers: {_engine(facts)}")
    for sentence in known_escapes(facts):
        yield ReportLine(Mark.PROBLEM, "docker", *_problem_and_fix(sentence), needed=False)
    for sentence in engine.shortcomings(facts):
        yield ReportLine(Mark.PROBLEM, "docker", *_problem_and_fix(sentence), needed=False)


def _engine(facts: EngineFacts) -> str:
    """One line: versions, and what is around a container."""
    around = [*facts.security, f"cgroup v{facts.cgroups}"]
    gpus = [
        *(["NVIDIA's runtime"] if facts.nvidia_runtime else []),
        *(["GPUs by CDI"] if facts.nvidia_devices else []),
    ]
    runc = f", runc {facts.runc[0]}" if facts.runc[0] else ""
    return f"{facts.version}{runc}, with {', '.join((*around, *gpus))}"


def _problem_and_fix(sentence: str) -> tuple[str, str]:
    """Problem, and its solution, which stands behind the last semicolon."""
    state, _, fix = sentence.rpartition("; ")
    return state, fix


def _images() -> Iterator[ReportLine]:
    """A line for each image that is there, and for `build`, which a class is graded in, where it is not."""
    for target in TARGETS:
        try:
            candidate = image.find_image(target)
            if candidate is not None:
                yield ReportLine(Mark.OK, "image", _described(candidate, image.verify(candidate)))
            elif image.has_other_recipe(target):
                state = f"{target} is of another version of the grader, or of its base, and is not used"
                yield ReportLine(Mark.NONE, "image", state, _how_to_make(target))
            elif target == image.TARGETS[0]:
                yield ReportLine(Mark.NONE, "image", f"{target} was not made yet", _how_to_make(target))
        except GraderError as problem:
            state = f"{target} cannot be used"
            yield ReportLine(Mark.PROBLEM, "image", state, str(problem), needed=False)


def _how_to_make(target: str) -> str:
    return f"make it with `grader doctor --build-image {target}`"


def _described(described: SandboxImage, contents: str) -> str:
    files = f", files {contents[:19]}" if contents else ""
    return f"{described.target} {described.id[:19]} of recipe {described.recipe[:12]}{files}"
