"""Finding the assignment's kernel among those that a file has, or saying why none is it.

Of a template the instance that the file makes itself is graded, for only its author knows what the parameters
stand for. Only parameters that are called like a constant of the assignment can be given a value here.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from grader.base.cpp import CppText
from grader.base.records import frozen
from grader.model import Finding, FindingCode
from grader.toolchain.nvcc.constants import number
from grader.toolchain.nvcc.declarations import lone_extents
from grader.toolchain.nvcc.signature import c_type, is_c_type, mismatch, read_name
from grader.toolchain.nvcc.source import harmless, part, problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tree_sitter import Node

    from grader.model import KernelInterface, Named, Parameter
    from grader.toolchain.nvcc.declarations import DeclaredKernel, OwnText
    from grader.toolchain.nvcc.signature import KernelEntry, Signature

MOST_LISTED = 10


@frozen
class Candidate:
    """Kernel of the PTX with the right name; ``problem`` is the reason why its parameters do not fit.

    ``declared`` is its declaration in the file, as far as that is known, and ``numbers`` are the whole
    numbers among its template arguments by their parameters' names.
    """

    entry: KernelEntry
    signature: Signature
    problem: Finding | None
    declared: DeclaredKernel | None
    numbers: Mapping[str, int]


def candidates(
    entries: Iterable[KernelEntry],
    interface: KernelInterface,
    values: Mapping[str, int],
    declared: Iterable[DeclaredKernel] = (),
    launches: Iterable[tuple[str, ...]] = (),
) -> tuple[Candidate, ...]:
    """The kernels with the assignment's name, best first; ties stay in the order of the PTX.

    A kernel whose parameters fit comes before one whose do not. Among those a template's instance that agrees
    with the constants' ``values`` comes first, and then one with the template arguments of the first of the
    ``launches`` that the file's text shows.
    """
    by_name = {kernel.name: kernel for kernel in reversed(tuple(declared))}
    order = {arguments: number for number, arguments in enumerate(launches)}
    ranked: list[tuple[tuple[bool, bool, int], Candidate]] = []
    for entry in entries:
        signature = read_name(entry.name)
        if not _has_name(signature, entry.name, interface.kernel):
            continue
        kernel = by_name.get(signature.name)
        numbers = numbers_of(signature, kernel)
        misfit = mismatch(interface.kernel, entry, signature, interface.parameters)
        differs = not agrees(interface, values, numbers)
        rank = order.get(tuple(map(str, signature.template)), len(order))
        candidate = Candidate(entry, signature, misfit, kernel, numbers)
        ranked.append(((misfit is not None, differs, rank), candidate))
    return tuple(candidate for _, candidate in sorted(ranked, key=lambda pair: pair[0]))


def _has_name(signature: Signature, symbol: str, kernel: str) -> bool:
    qualified = "::".join((*signature.scopes, signature.name))
    return kernel in (symbol, signature.name, qualified)


def instances(
    declared: Iterable[DeclaredKernel],
    interface: KernelInterface,
    values: Mapping[str, int],
    launches: Iterable[tuple[str, ...]] = (),
) -> tuple[str, ...]:
    """C++ expressions that have the kernel emitted: ``ns::matmul<16>`` for a template, ``matmul`` else.

    A template gets the arguments of the file's ``launches``, or else those that can be known
    (`kernel.missing_arguments`); where neither is there, it is left out.
    """
    names: list[str] = []
    for kernel in declared:
        if kernel.name != interface.kernel.rsplit("::", 1)[-1]:
            continue
        name = "::".join(("", *kernel.scopes, kernel.name))
        if not kernel.template:
            names.append(name)
            continue
        instances_arguments = tuple(launches) or (missing_arguments(kernel, interface, values),)
        names += [
            f"{name}<{', '.join(arguments)}>" for arguments in instances_arguments if arguments is not None
        ]
    return tuple(names)


def missing_kernel(
    interface: KernelInterface, declared: Iterable[DeclaredKernel], entries: Iterable[KernelEntry]
) -> Finding:
    """Finding that there is no such kernel, with those that there are; one also asked for keeps its name."""
    names = [kernel.name for kernel in declared] + [read_name(entry.name).name for entry in entries]
    if not names:
        return problem(FindingCode.NO_KERNEL, named=f"`{interface.kernel}`")
    also_asked = [harmless(name.rsplit("::", 1)[-1]) for name in interface.others]
    return others_there(FindingCode.OTHER_KERNELS, interface.kernel, map(harmless, names), also_asked)


def others_there(
    code: FindingCode, missing: str, names: Iterable[str], also_asked: Collection[str] = ()
) -> Finding:
    """Finding that ``missing`` is not among these ``names``; those that are ``also_asked`` for stay."""
    distinct = list(dict.fromkeys(names))
    left_out = len(distinct) - MOST_LISTED
    by_lower_case = {name.lower(): name for name in distinct if name not in also_asked}
    alike = get_close_matches(missing.lower(), by_lower_case, 1, 0.7)
    also = tuple(f"`{name}`" for name in also_asked if name in distinct)
    return problem(
        code,
        named=f"`{missing}`",
        others=", ".join(f"`{name}`" for name in distinct[:MOST_LISTED]),
        more=part("and-others", number=left_out) if left_out > 0 else (),
        beside=part("asked-for-too", names=also, count=len(also)) if also else (),
        rename=part("rename", name=by_lower_case[alike[0]]) if alike else (),
    )


_CONDITION = re.compile(r"[ \t]*#[ \t]*(?P<what>if|ifdef|ifndef|elif|else|endif)\b(?P<condition>[^\n]*)")
_LONGEST_HEAD = 400
_MOST_PLACES = 100
"""Definitions that are looked at; each takes a look at all the text before it."""


class Directive(NamedTuple):
    """An ``#if``, ``#ifdef``, ``#elif`` … as it stands, blanks made one, and its line."""

    text: str
    line: int


class LeftOut(NamedTuple):
    """Place of a kernel, and the directive that decides about it."""

    file: str
    line: int
    directive: Directive


def excluded_kernel(sources: Named[bytes], kernel: str) -> LeftOut | None:
    """The first definition of a kernel that stands between ``#if`` and ``#endif``; None where there is none.

    To be asked where the compiler saw no such kernel: one between directives is then one that is left out.
    Directives are read line by line, for what stands between them need be no C++ with both of its braces.
    """
    pattern = re.compile(rf"\b__global__\b[^;{{}}#]{{0,{_LONGEST_HEAD}}}\b{re.escape(kernel)}\s*\(")
    for file, source in sources:
        text = CppText(source.decode(errors="replace")).without_comments
        for match in islice(pattern.finditer(text), _MOST_PLACES):
            directive = _innermost(text[: match.start()])
            if directive:
                return LeftOut(file, text.count("\n", 0, match.end()) + 1, directive)
    return None


def _innermost(text: str) -> Directive | None:
    """The directive whose branch is still open at the end of a text."""
    opened: list[Directive] = []
    for line_number, line in enumerate(text.split("\n"), 1):
        match = _CONDITION.match(line)
        if match is None:
            continue
        if match["what"] in ("elif", "else", "endif") and opened:
            opened.pop()
        if match["what"] != "endif":
            opened.append(Directive(" ".join(f"#{match['what']}{match['condition']}".split()), line_number))
    return opened[-1] if opened else None


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
    text: OwnText,
    kernel: DeclaredKernel,
) -> dict[str, int]:
    """The assignment's constants whose values the graded instance gives.

    They are those that a parameter is called like. A single constant that the file does not define under any
    name of its own is also the parameter that alone makes the extents of shared arrays (``tile[W][W]``).
    """
    constants = constants_by_name(interface, numbers)
    unknown = [name for name in assumed if name not in constants]
    extents = {numbers[name] for name in lone_extents(text, kernel) if name in numbers}
    if len(unknown) == len(interface.constants) == len(extents) == 1:
        constants[unknown[0]] = extents.pop()
    return constants


def agrees(interface: KernelInterface, constants: Mapping[str, int], numbers: Mapping[str, int]) -> bool:
    """True if an instance has the constants' values where parameters are called so, or else any of them."""
    by_name = constants_by_name(interface, numbers)
    if by_name:
        return all(constants[name] == value for name, value in by_name.items())
    return not numbers or not constants or any(value in constants.values() for value in numbers.values())


def template_launches(cpp: CppText, kernel: str, values: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """The template arguments of launches ``kernel<...><<<`` in a text, where they can be computed."""
    launches = (
        _evaluated([cpp.words(argument) for argument in arguments.named_children], values)
        for node in cpp.nodes("template_function")
        if cpp.of(node.child_by_field_name("name")) == kernel and _is_launched(node)
        if (arguments := node.child_by_field_name("arguments"))
    )
    return tuple(dict.fromkeys(filter(None, launches)))[:_MOST_LAUNCHES]


def _is_launched(function: Node) -> bool:
    """True if a function, or what names its namespaces, stands before a launch configuration."""
    node = function
    while node.parent is not None and node.parent.type == "qualified_identifier":
        node = node.parent
    return node.next_sibling is not None and node.next_sibling.type == "kernel_call_syntax"


def _evaluated(arguments: list[str], values: Mapping[str, int]) -> tuple[str, ...] | None:
    texts: list[str] = []
    for text in arguments:
        value = {"true": 1, "false": 0}.get(text, number(text, values))
        if value is None and not is_c_type(text):
            return None
        texts.append(text if value is None else str(value))
    return tuple(texts)


def missing_arguments(
    declared: DeclaredKernel, interface: KernelInterface, values: Mapping[str, int]
) -> tuple[str, ...] | None:
    """Arguments of an instance that the file does not make; None where only the author knows a value.

    A parameter called like a constant of the assignment gets its value, a type the element type of the first
    array, and from the first with a default on the others get theirs.
    """
    names = _constant_names(interface)
    array = next((p.dtype for p in interface.parameters if p.direction != "value"), "float32")
    texts: list[str] = []
    for parameter in declared.template:
        constant = names.get(_plain(parameter_name(parameter)))
        if parameter.split()[:1] in (["typename"], ["class"]):
            texts.append(c_type(array))
        elif constant:
            texts.append(str(values[constant]))
        elif "=" in parameter:
            break
        else:
            return None
    return tuple(texts)


def no_value(declared: DeclaredKernel, interface: KernelInterface) -> Finding:
    """Finding that `missing_arguments` cannot give an instance, with the parameters that are the reason."""
    names = _constant_names(interface)
    unknown = tuple(
        f"`{harmless(parameter_name(parameter))}`"
        for parameter in declared.template
        if parameter.split()[:1] not in (["typename"], ["class"])
        if "=" not in parameter and _plain(parameter_name(parameter)) not in names
    )
    values = part("values-to", names=unknown, count=len(unknown))
    return problem(FindingCode.TEMPLATE_WITHOUT_VALUES, named=f"`{declared.name}`", values=values)


def _constant_names(interface: KernelInterface) -> dict[str, str]:
    """Constants by each of their names, written plainly."""
    return {_plain(alias): c.name for c in interface.constants for alias in (c.name, *c.aliases)}


def _plain(name: str) -> str:
    """A name without case and underscores: macros are shouted, template parameters are not."""
    return name.replace("_", "").lower()


_SHOWABLE_NAME = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]{0,39}", re.ASCII)
"""Names that are short enough for a sentence, and no attribute such as ``__restrict__``."""


def student_names(parameters: Sequence[Parameter], declared: Sequence[str]) -> Named[str]:
    """The assignment's arrays that the file calls otherwise, each with the file's name for it.

    A launch passes arguments by place, so the place decides which name belongs to which. Where a name is
    missing, cannot be shown, or is there twice, the assignment's names stay: half of them would mislead.
    """
    readable = all(_SHOWABLE_NAME.fullmatch(name) for name in declared)
    if not readable or len(declared) != len(parameters) or len(set(declared)) != len(declared):
        return ()
    pairs = zip(parameters, declared, strict=True)
    return tuple(
        (parameter.name, name) for parameter, name in pairs if parameter.extents and parameter.name != name
    )
