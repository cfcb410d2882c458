"""A student's function of the host: its symbol in an object file, what it takes, the program that calls it.

That program is compiled apart from the student's file and meets it when both are linked: neither macros nor
names of the one reach the other. A ``main`` of the student's own stays where it is, and is never called.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.cpp import CppText, declared_name
from grader.base.data_files import headers_folder
from grader.base.errors import OurError
from grader.model import Detail, Finding, FindingCode
from grader.toolchain.nvcc import driver
from grader.toolchain.nvcc.diagnostics import CompileRefused
from grader.toolchain.nvcc.kernel import others_there
from grader.toolchain.nvcc.runtime import own_object
from grader.toolchain.nvcc.signature import (
    Type,
    c_type,
    expected,
    is_c_type,
    is_element,
    read_name,
    same_element,
)
from grader.toolchain.nvcc.source import harmless, part, problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from tree_sitter import Node

    from grader.model import FunctionInterface, Parameter
    from grader.toolchain.nvcc.toolchain import Tools

CALLED = "grader_function_called"
"""Function that the program of ours calls; the linker makes it the student's function."""

MAIN = "__wrap_main"
"""Entry point of a program linked with ``--wrap=main`` (ld(1)): a student may have a ``main``, too."""

HEADER, SOURCE, OBJECT = "grader_function.hpp", "caller.cpp", "caller.o"
_SYMBOL = re.compile(r"[A-Za-z_][\w.$]{0,1999}")
_STUB = "__device_stub_"
"""Prefix by nvcc of a kernel's launching function; the kernel's own name is defined on the host, too."""

_SHOWN = 8
_DECORATIONS = re.compile(
    r"\b(?:const|volatile|register|struct|__restrict__|__restrict|restrict)\b|[*&\[\]\d]"
)
_PLAIN = {
    "unsigned": "unsigned int",
    "signed": "int",
    "signed int": "int",
    "long int": "long",
    "long long int": "long long",
    "unsigned long int": "unsigned long",
    "size_t": "unsigned long",
    "std::size_t": "unsigned long",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "half": "__half",
}
"""Spellings of types that have another one in mangled names."""


def called_symbol(code: bytes, source: bytes, interface: FunctionInterface, file: str) -> str:
    """The symbol of the function in the object file of the student's source.

    Raises CompileRefused where there is none, or where it takes something else than what is passed.
    """
    try:
        names = driver.defined_functions(code)
    except ValueError as problem:
        raise OurError(f"the object file that the compiler made cannot be read: {problem}") from None
    text = CppText(source.decode(errors="replace"))
    plain = interface.function.rsplit("::", 1)[-1]
    stubs = {stub for name in names if (stub := read_name(name).name).startswith(_STUB)}
    callable_names = [n for n, is_global in names.items() if is_global and not _is_kernel(n, stubs)]
    symbols = [n for n in callable_names if read_name(n).name == plain and _SYMBOL.fullmatch(n)]
    if not symbols:
        finding = _out_of_reach(text, plain) or _not_there(plain, callable_names)
        raise _refused(finding, file, _line_of(text, plain))
    problems = [_mismatch(interface, _types(symbol, text, plain)) for symbol in symbols]
    misfits = [misfit for misfit in problems if misfit is not None]
    if len(misfits) < len(symbols):
        return symbols[problems.index(None)]
    raise _refused(misfits[0], file, _line_of(text, plain))


def parameter_names(source: bytes, interface: FunctionInterface) -> tuple[str, ...]:
    """Names of the function's parameters in the student's file; empty where they are not known."""
    text = CppText(source.decode(errors="replace"))
    definition = _definition_on_host(text, interface.function.rsplit("::", 1)[-1])
    formal = _formal(definition) if definition else ()
    return tuple(text.of(declared_name(node.child_by_field_name("declarator"))) for node in formal)


def line_of_definition(source: bytes, interface: FunctionInterface) -> int | None:
    """The line where the student's file defines the function; None where that is not known."""
    return _line_of(CppText(source.decode(errors="replace")), interface.function.rsplit("::", 1)[-1])


def caller(tools: Tools, interface: FunctionInterface) -> bytes:
    """The object file of the program that calls the function; raises OurError where it does not compile."""
    types = [_passed(parameter) for parameter in interface.parameters]
    names = [f"a{index}" for index in range(len(types))]
    fetched = [f"    {t} {n} = call.{_fetch(t)};" for t, n in zip(types, names, strict=True)]
    lines = [
        f'#include "{HEADER}"',
        f'extern "C" void {CALLED}({", ".join(types)});',
        f'extern "C" int {MAIN}(int count, char **words) {{',
        "    grader_function::Call call(count, words);",
        *fetched,
        f"    {CALLED}({', '.join(names)});",
        "    call.give_back();",
        "    return 0;",
        "}",
    ]
    files = (
        (SOURCE, "\n".join([*lines, ""]).encode()),
        (HEADER, (headers_folder() / HEADER).read_bytes()),
    )
    return own_object(tools, "caller", ("-std=c++17", "-O2", "-c", SOURCE), files, OBJECT)


def _passed(parameter: Parameter) -> str:
    """The C++ type that travels as the parameter's does; a 16-bit float is passed as its bits are."""
    if parameter.direction != "value":
        return "void *"
    return "unsigned short" if parameter.dtype in ("float16", "bfloat16") else c_type(parameter.dtype)


def _fetch(passed: str) -> str:
    return "array()" if passed == "void *" else f"number<{passed}>()"


def _is_kernel(name: str, stubs: AbstractSet[str]) -> bool:
    """True if a symbol is what nvcc leaves of a kernel on the host."""
    return not stubs.isdisjoint((f"{_STUB}{name}", f"{_STUB}_{name}"))


def _refused(finding: Finding, file: str, line: int | None) -> CompileRefused:
    return CompileRefused((replace(finding, file=file, line=line),))


def _out_of_reach(text: CppText, function: str) -> Finding | None:
    """Reason why a definition of this name cannot be called from another file; None where there is none."""
    named = f"`{function}`"
    for node in _definitions(text, function):
        words = re.findall(r"\w+", _head(text, node))
        if "__global__" in words:
            return problem(FindingCode.FUNCTION_IS_KERNEL, named=named)
        if "__device__" in words and "__host__" not in words:
            return problem(FindingCode.FUNCTION_ON_DEVICE, named=named)
        if node.parent is not None and node.parent.type == "template_declaration":
            return problem(FindingCode.FUNCTION_IS_TEMPLATE, named=named)
        word = next((word for word in ("static", "inline") if word in words), "")
        reach: Detail = f"`{word}`" if word else part("unnamed-namespace")
        return problem(FindingCode.FUNCTION_OUT_OF_REACH, named=named, reach=reach)
    return None


def _not_there(function: str, callable_names: Iterable[str]) -> Finding:
    """Finding that there is no such function, with those that there are."""
    read = (harmless(read_name(name).name) for name in callable_names)
    names = [name for name in read if name.isidentifier() and not name.startswith("__")]
    if not names:
        return problem(FindingCode.NO_FUNCTION, named=f"`{function}`")
    return others_there(FindingCode.OTHER_FUNCTIONS, function, names)


def _definitions(text: CppText, function: str) -> Iterator[Node]:
    """The definitions of functions of this name, kernels among them."""
    for node in text.nodes("function_definition"):
        if text.of(declared_name(node.child_by_field_name("declarator"))) == function:
            yield node


def _definition_on_host(text: CppText, function: str) -> Node | None:
    """The first of them that is no kernel."""
    definitions = _definitions(text, function)
    return next((node for node in definitions if "__global__" not in _head(text, node)), None)


def _head(text: CppText, definition: Node) -> str:
    body = definition.child_by_field_name("body")
    return text.of(definition)[: (body.start_byte if body else definition.end_byte) - definition.start_byte]


def _formal(definition: Node) -> list[Node]:
    """The parameters of a definition."""
    node: Node | None = definition
    while node is not None and node.child_by_field_name("parameters") is None:
        node = node.child_by_field_name("declarator")
    listed = node.child_by_field_name("parameters") if node is not None else None
    kinds = ("parameter_declaration", "optional_parameter_declaration")
    return [child for child in listed.named_children if child.type in kinds] if listed is not None else []


def _line_of(text: CppText, function: str) -> int | None:
    """The line where something of this name is defined."""
    return next((node.start_point[0] + 1 for node in _definitions(text, function)), None)


def _types(symbol: str, text: CppText, function: str) -> tuple[Type | None, ...] | None:
    """Types of a function's parameters; None where they are unknown.

    A mangled name contains them; of a plain one the text has them, where None is a type with a name of its
    own.
    """
    mangled = read_name(symbol).types
    if mangled is not None:
        return mangled
    definition = _definition_on_host(text, function)
    return tuple(_written_type(text, node) for node in _formal(definition)) if definition else None


def _written_type(text: CppText, node: Node) -> Type | None:
    """The type of a parameter as it is written."""
    name = declared_name(node.child_by_field_name("declarator"))
    words = text.of(node)
    if name is not None:
        start = name.start_byte - node.start_byte
        words = words[:start] + " " + words[start + name.end_byte - name.start_byte :]
    words = words.partition("=")[0]
    base = " ".join(_DECORATIONS.sub(" ", words).split())
    base = _PLAIN.get(base, base)
    if words.count("*") + words.count("[") > 1 or not (is_c_type(base) or base == "void"):
        return None
    kind = "pointer" if "*" in words or "[" in words else "reference" if "&" in words else "value"
    return Type(kind, base, constant=bool(re.search(r"\bconst\b", words)))


def _mismatch(interface: FunctionInterface, types: tuple[Type | None, ...] | None) -> Finding | None:
    """Finding for a function's parameters; None where they fit."""
    if types is None:
        return None
    named, parameters = f"`{interface.function}`", ", ".join(map(expected, interface.parameters))
    if len(types) != len(interface.parameters):
        return problem(
            FindingCode.FUNCTION_PARAMETER_COUNT,
            named=named,
            parameters=part("parameters", count=len(types)),
            passed=len(interface.parameters),
            wanted=parameters,
        )
    for index, (parameter, actual) in enumerate(zip(interface.parameters, types, strict=True), 1):
        if actual is not None and not _takes(parameter, actual):
            return problem(
                FindingCode.FUNCTION_PARAMETER,
                number=index,
                named=named,
                expected=expected(parameter),
                actual=part("of-type", type=str(actual)),
                wanted=parameters,
                reordered=part("in-another-order") if _same_types(interface, types) else (),
            )
    return None


def _same_types(interface: FunctionInterface, types: tuple[Type | None, ...]) -> bool:
    """True if the types are those of the assignment, each as often."""
    wanted = (expected(parameter).rpartition(" ")[0] for parameter in interface.parameters)
    return sorted(wanted) == sorted(map(str, types))


def _takes(parameter: Parameter, actual: Type) -> bool:
    """True if what is passed for a parameter arrives; signs of whole numbers do not matter."""
    if parameter.direction == "value":
        return (
            actual.kind == "value" and is_element(actual.name) and same_element(parameter.dtype, actual.name)
        )
    written = actual.constant and parameter.direction != "in"
    return actual.kind == "pointer" and not written and same_element(parameter.dtype, actual.name)
