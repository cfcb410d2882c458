"""Reports of `grader doctor` on images for containers: one of another version is not used, but named."""

from __future__ import annotations

import pytest

from grader.authoring.doctor import Mark, containers
from grader.base.errors import OurError
from grader.toolchain.sandbox import Equipment, image


@pytest.mark.parametrize(
    ("others", "states"),
    [
        ((), ["build was not made yet"]),
        (("build",), ["build is of another version of the grader, or of its base, and is not used"]),
        (("gpu",), ["build was not made yet", "gpu is of another version of the grader, or of its base"]),
    ],
)
def test_an_image_that_would_not_be_used_is_not_called_well(
    monkeypatch: pytest.MonkeyPatch, others: tuple[str, ...], states: list[str]
) -> None:
    """`build` is what a class wants; of the others only those that were made are spoken of."""
    monkeypatch.setattr(image, "find_image", lambda _: None)
    monkeypatch.setattr(image, "has_other_recipe", lambda target: target in others)
    lines = list(containers._images())
    assert [line.mark for line in lines] == [Mark.NONE] * len(states)
    for line, state in zip(lines, states, strict=True):
        assert line.state.startswith(state)
        assert line.fix == f"make it with `grader doctor --build-image {line.state.split()[0]}`"


def test_an_image_that_was_changed_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are looked at, not its name."""

    def changed(_: object) -> str:
        raise OurError("it does not hold the files that were put into it")

    there = image.SandboxImage("sha256:1", "cuda-grader-sandbox:build-1", Equipment())
    monkeypatch.setattr(image, "find_image", lambda target: there if target == "build" else None)
    monkeypatch.setattr(image, "has_other_recipe", lambda _: False)
    monkeypatch.setattr(image, "verify", changed)
    (line,) = containers._images()
    assert (line.mark, line.stops, line.state) == (Mark.PROBLEM, False, "build cannot be used")
