"""`grader completion`: what a shell needs to complete commands, options and ids of assignments.

The shell asks by running `grader` with ``_ARGCOMPLETE`` in the environment (argcomplete's protocol); nothing
of that is loaded otherwise.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import argcomplete
from argcomplete.completers import FilesCompleter
from argcomplete.shell_integration import shellcode

from grader.grading.assignment.bundled import bundled_ids

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(options: argparse.Namespace) -> int:
    """Print what the shell is to evaluate when it starts; 0."""
    sys.stdout.write(shellcode(["grader"], shell=options.shell))
    return 0


def answer(parser: argparse.ArgumentParser) -> None:
    """Print completions for the shell that asks, and end the process."""
    for action in _actions(parser):
        if action.dest in {"assignment", "like"}:
            action.completer = _assignments  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for command in action.choices.values():
                yield from _actions(command)


def _assignments(prefix: str, **_: object) -> list[str]:
    """The bundled ids, and files, for an assignment may be a path."""
    return [*bundled_ids(), *FilesCompleter()(prefix)]
