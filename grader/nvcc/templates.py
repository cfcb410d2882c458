"""Kernels that are templates: which instance is meant, which constants it gives, how to ask for one.

An instance that the file makes itself is graded, for only its author knows what the parameters stand for.
Only parameters that are called like a constant of the assignment can be given a value here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.nvcc.constants import number
from grader.nvcc.declarations import lone_extents
from grader.nvcc.shown import harmless
from grader.nvcc.signature import c_type, is_c_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tree_sitter import Node

    from grader.cpp import CppText
    from grader.model import KernelInterface
    from grader.nvcc.declarations import DeclaredKernel, OwnText
    from grader.nvcc.mangled import Signature

_MOST_LAUNCHES = 8


def parameter_name(parameter: str) -> str:
    """The name of a template parameter as it is declared: ``TILE`` of ``int TILE = 16``; empty for none."""
    words = parameter.partition("=")[0].replace("...", " ").split()
    return words[-1] if words else ""


def numbers_of(signature: Signature, declared: DeclaredKernel | None) -> dict[str, int]:
    """The whole numbers among an instance's arguments, by the names of the template's parameters."""
    parameters = map(parameter_name, declared.template if declared else ())
    arguments = zip(parameters, signature.template, strict=False)
    return {name: value for name, value in arguments if name and isinstance(value, int)}


def constants_by_name(interface: KernelInterface, numbers: Mapping[str, int]) -> dict[str, int]:
    """The constants that some of the ``numbers`` are called like: ``blockSize`` stands for ``BLOCK_SIZE``."""
    names = _constant_names(interface)
    return {names[_plain(name)]: value for name, value in numbers.items() if _plain(name) in names}


def constants_of_instance(
    interface: KernelInterface,
    numbers: Mapping[str, int],
    assumed: Iterable[str],
    own: OwnText,
    kernel: DeclaredKernel,
) -> dict[str, int]:
    """The assignment's constants whose values the graded instance gives.

    They are those that a parameter is called like. A single constant that the file does not define under any
    name of its own is also the parameter that alone makes the extents of shared arrays (``tile[W][W]``).
    """
    given = constants_by_name(interface, numbers)
    unknown = [name for name in assumed if name not in given]
    extents = {numbers[name] for name in lone_extents(own, kernel) if name in numbers}
    if len(unknown) == len(interface.constants) == len(extents) == 1:
        given[unknown[0]] = extents.pop()
    return given


def agrees(interface: KernelInterface, constants: Mapping[str, int], numbers: Mapping[str, int]) -> bool:
    """Whether an instance has the constants' values where parameters are called so, or else any of them."""
    named = constants_by_name(interface, numbers)
    if named:
        return all(constants[name] == value for name, value in named.items())
    return not numbers or not constants or any(value in constants.values() for value in numbers.values())


def launched(cpp: CppText, kernel: str, values: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The template arguments of launches ``kernel<...><<<`` in a text, where they can be computed."""
    launches = (
        _evaluated([cpp.words(argument) for argument in arguments.named_children], values)
        for node in cpp.nodes("template_function")
        if cpp.of(node.child_by_field_name("name")) == kernel and _is_launched(node)
        if (arguments := node.child_by_field_name("arguments"))
    )
    return tuple(dict.fromkeys(filter(None, launches)))[:_MOST_LAUNCHES]


def _is_launched(function: Node) -> bool:
    """Whether a function, or what names its namespaces, stands before a launch configuration."""
    node = function
    while node.parent is not None and node.parent.type == "qualified_identifier":
        node = node.parent
    return node.next_sibling is not None and node.next_sibling.type == "kernel_call_syntax"


def _evaluated(arguments: list[str], values: Mapping[str, int]) -> tuple[str, ...] | None:
    given: list[str] = []
    for text in arguments:
        value = {"true": 1, "false": 0}.get(text, number(text, values))
        if value is None and not is_c_type(text):
            return None
        given.append(text if value is None else str(value))
    return tuple(given)


def asked_for(
    declared: DeclaredKernel, interface: KernelInterface, values: Mapping[str, int]
) -> tuple[str, ...] | None:
    """The arguments of an instance that nobody made; None where a parameter's value is the author's to say.

    A parameter called like a constant of the assignment gets its value, a type the element type of the first
    array, and from the first with a default on the others get theirs.
    """
    names = _constant_names(interface)
    array = next((p.dtype for p in interface.parameters if p.direction != "value"), "float32")
    given: list[str] = []
    for parameter in declared.template:
        constant = names.get(_plain(parameter_name(parameter)))
        if parameter.split()[:1] in (["typename"], ["class"]):
            given.append(c_type(array))
        elif constant:
            given.append(str(values[constant]))
        elif "=" in parameter:
            break
        else:
            return None
    return tuple(given)


def no_value(declared: DeclaredKernel, interface: KernelInterface) -> str:
    """That `asked_for` cannot say an instance, and because of which parameters."""
    names = _constant_names(interface)
    unknown = [
        f"`{harmless(parameter_name(parameter))}`"
        for parameter in declared.template
        if parameter.split()[:1] not in (["typename"], ["class"])
        if "=" not in parameter and _plain(parameter_name(parameter)) not in names
    ]
    values, shown = ("a value", "parameter") if len(unknown) == 1 else ("values", "parameters")
    return (
        f"the kernel `{declared.name}` is a template that this file never uses, so that nothing gives "
        f"{values} to its {shown} {' and '.join(unknown)}"
    )


def _constant_names(interface: KernelInterface) -> dict[str, str]:
    """Each constant by its names, written plainly."""
    return {_plain(alias): c.name for c in interface.constants for alias in (c.name, *c.aliases)}


def _plain(name: str) -> str:
    """A name without case and underscores: macros are shouted, template parameters are not."""
    return name.replace("_", "").lower()
