"""`constraints.txt` pins everything that `make setup` installs."""

from __future__ import annotations

from grader.classroom.gradescope.archive import normal_name, requirements
from tests.pins import EXTRAS, pins


def test_every_requirement_is_pinned_to_a_version_that_fulfils_it() -> None:
    """Each package that the grader and its extras require, directly or not, has a version in the file."""
    pinned = pins()
    named = {normal_name(requirement.name): requirement for requirement in requirements(EXTRAS)}
    assert named.keys() >= {"numpy", "ruff", "nvidia-cuda-nvcc", "mkdocs", "pydantic-core"}
    assert named.keys() <= pinned.keys()
    for name, requirement in named.items():
        assert requirement.specifier.contains(pinned[name], prereleases=True), (
            f"{requirement}: {pinned[name]}"
        )
