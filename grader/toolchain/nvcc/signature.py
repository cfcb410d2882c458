"""The kernels of a PTX module, and whether one takes what the assignment passes: if not, which parameter."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.base.errors import log_swallowed
from grader.base.precision import struct_type
from grader.base.records import frozen
from grader.model import Clause, Finding, FindingCode
from grader.simulation.ptx.nodes import TYPE_BYTES
from grader.toolchain.nvcc.source import part, problem

if TYPE_CHECKING:
    import numpy as np

    from grader.model import Parameter
    from grader.simulation.ptx import Module, Variable


@frozen
class EntryParameter:
    """A kernel parameter as PTX declares it (PTX ISA sections 4.4 and 5.1.6.1): ``u64``, ``f32``, … ."""

    type: str
    bytes: int
    is_struct: bool = False
    """Passed by value as an array of bytes: a struct, or anything that is a ``__grid_constant__``."""
    align: int = 0
    """The alignment that PTX declares, in bytes; 0 where it declares none."""


@frozen
class KernelEntry:
    """A kernel of a PTX module."""

    name: str
    parameters: tuple[EntryParameter, ...]


def read_entries(module: Module) -> tuple[KernelEntry, ...]:
    """Every ``.entry`` of the module that has a body, in its order."""
    return tuple(
        KernelEntry(function.name, tuple(map(_parameter, function.parameters)))
        for function in module.functions
        if function.is_entry and function.defined
    )


def _parameter(variable: Variable) -> EntryParameter:
    is_struct = variable.size != TYPE_BYTES[variable.type]
    return EntryParameter(variable.type, variable.size, is_struct, variable.align if is_struct else 0)


BUILT_IN = ("dim3",)
"""Structs that CUDA defines itself."""

POINTER_BYTES = 8
HALF_BYTES = 2
"""CUDA C++ makes its 16-bit floats structs."""


class Element(NamedTuple):
    """A fundamental type: ``i`` integer, ``f`` IEEE float or ``b`` bfloat, and its bytes."""

    kind: str
    bytes: int


_DTYPES = {
    **{f"{sign}int{bits}": Element("i", bits // 8) for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": Element("f", bits // 8) for bits in (16, 32, 64)},
    "bool": Element("i", 1),
    "bfloat16": Element("b", 2),
}
_C_NAMES = {
    "float16": "__half",
    "float32": "float",
    "float64": "double",
    "bfloat16": "__nv_bfloat16",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "bool": "bool",
}
_ELEMENTS = {
    **{c_name: _DTYPES[dtype] for dtype, c_name in _C_NAMES.items()},
    "char": Element("i", 1),
    "long": Element("i", 8),
    "unsigned long": Element("i", 8),
}
_VECTORS = {
    **{f"float{n}": Element("f", 4) for n in (2, 3, 4)},
    **{f"double{n}": Element("f", 8) for n in (2, 3, 4)},
    **{f"{sign}int{n}": Element("i", 4) for sign in ("", "u") for n in (2, 3, 4)},
    "__half2": Element("f", 2),
    "__nv_bfloat162": Element("b", 2),
}


def c_type(dtype: str) -> str:
    """Name in CUDA C++ of a NumPy dtype: ``float`` for ``float32``."""
    return _C_NAMES.get(dtype, dtype)


def is_c_type(name: str) -> bool:
    """True if the name is that of an element type in CUDA C++."""
    return name in _ELEMENTS or name in _VECTORS


def is_element(name: str) -> bool:
    """True if the name is that of a single number in CUDA C++, and of no vector."""
    return name in _ELEMENTS


def expected(parameter: Parameter) -> str:
    """Declaration of the parameter as a student would write it."""
    if parameter.direction == "value":
        return f"{c_type(parameter.dtype)} {parameter.name}"
    return f"{'const ' if parameter.direction == 'in' else ''}{c_type(parameter.dtype)}* {parameter.name}"


def mismatch(
    kernel: str, entry: KernelEntry, signature: Signature, parameters: tuple[Parameter, ...]
) -> Finding | None:
    """Finding for the kernel's parameters; None where they fit."""
    listed = ", ".join(map(expected, parameters))
    if len(entry.parameters) != len(parameters):
        return problem(
            FindingCode.KERNEL_PARAMETER_COUNT,
            named=f"`{kernel}`",
            parameters=part("parameters", count=len(entry.parameters)),
            passed=len(parameters),
            wanted=listed,
        )
    types = signature.types if signature.types and len(signature.types) == len(parameters) else None
    for index, (parameter, actual) in enumerate(zip(parameters, entry.parameters, strict=True)):
        written = types[index] if types else None
        difference = _difference(parameter, actual, written)
        if difference:
            return problem(
                FindingCode.KERNEL_PARAMETER,
                number=index + 1,
                named=f"`{kernel}`",
                expected=expected(parameter),
                consisting=_consisting_of(parameter),
                actual=difference,
                wanted=listed,
            )
    return None


def _difference(parameter: Parameter, actual: EntryParameter, written: Type | None) -> tuple[Clause, ...]:
    """Description of the actual parameter; empty where it will do."""
    actual = actual if parameter.fields else _by_its_type(actual, written, parameter)
    if parameter.direction == "value":
        return () if _takes_value(parameter, actual, written) else _type_clause(actual, written)
    if actual.type[0] == "f" or actual.is_struct or actual.bytes != POINTER_BYTES:
        return _type_clause(actual, written)
    if written is None:
        return ()
    if written.kind != "pointer" or not same_element(parameter.dtype, written.name):
        return part("of-type", type=str(written))
    if written.constant and parameter.direction != "in":
        return part("not-writable", type=str(written))
    return ()


def _layout(parameter: Parameter) -> np.dtype[Any]:
    """The struct that is passed for a parameter."""
    return struct_type((field.name, field.dtype, field.direction != "value") for field in parameter.fields)


def _takes_value(parameter: Parameter, actual: EntryParameter, written: Type | None) -> bool:
    if parameter.fields:
        return _takes_struct(parameter, actual, written)
    return _takes_scalar(_DTYPES.get(parameter.dtype), actual) and (
        written is None or written.kind == "value"
    )


def _takes_struct(parameter: Parameter, actual: EntryParameter, written: Type | None) -> bool:
    """True if a struct of this size and alignment is taken by value; PTX does not contain its fields."""
    layout = _layout(parameter)
    if written and (written.kind != "value" or written.name in _ELEMENTS.keys() | _VECTORS.keys()):
        return False
    return actual.is_struct and actual.bytes == layout.itemsize and actual.align >= layout.alignment


def _consisting_of(parameter: Parameter) -> tuple[Clause, ...]:
    """Fields of a struct; empty for what is none, and for what CUDA defines."""
    if not parameter.fields or parameter.dtype in BUILT_IN:
        return ()
    fields = "; ".join(_field(field) for field in parameter.fields)
    return part("struct-of-fields", bytes=_layout(parameter).itemsize, fields=fields)


def _field(field: Parameter) -> str:
    return f"{c_type(field.dtype)}{'' if field.direction == 'value' else '*'} {field.name}"


def _by_its_type(actual: EntryParameter, written: Type | None, parameter: Parameter) -> EntryParameter:
    """The parameter as it would be without ``__grid_constant__``, for which PTX has aligned bytes.

    A plain C name does not contain the type behind the bytes: then it counts as what is wanted.
    """
    if not actual.is_struct or actual.align != actual.bytes:
        return actual
    if (written.kind if written else parameter.direction) != "value":
        return EntryParameter("u64", actual.bytes)
    element = _ELEMENTS.get(written.name) if written else _DTYPES.get(parameter.dtype)
    if element is None or element.bytes != actual.bytes or _is_short_float(element):
        return actual
    return EntryParameter(f"{'f' if element.kind == 'f' else 'u'}{8 * actual.bytes}", actual.bytes)


def _is_short_float(element: Element) -> bool:
    return element.kind != "i" and element.bytes == HALF_BYTES


def _takes_scalar(element: Element | None, actual: EntryParameter) -> bool:
    """True if the value fits: the same width and kind, or a wider integer for an integer."""
    if element is None:
        return False
    if element.kind == "i":
        return actual.type[0] != "f" and not actual.is_struct and actual.bytes >= element.bytes
    if _is_short_float(element):
        return actual.is_struct and actual.bytes == HALF_BYTES
    return actual.type[0] == "f" and actual.bytes == element.bytes


def same_element(dtype: str, name: str) -> bool:
    """True if arrays of ``dtype`` may be passed to a pointer to ``name``; signs and vectors do not matter."""
    element = _ELEMENTS.get(name) or _VECTORS.get(name)
    return name == "void" or element == _DTYPES.get(dtype)


def _type_clause(actual: EntryParameter, written: Type | None) -> tuple[Clause, ...]:
    if written is not None and _is_own_struct(actual, written):
        return part("own-struct", type=str(written), bytes=actual.bytes)
    if written is not None:
        return part("of-type", type=str(written))
    if actual.type[0] == "f":
        return part("number-of-bits", bits=actual.bytes * 8)
    if actual.is_struct:
        return part("struct-of-bytes", bytes=actual.bytes)
    name = "integer-or-pointer" if actual.bytes == POINTER_BYTES else "integer-of-bits"
    return part(name, bits=actual.bytes * 8)


def _is_own_struct(actual: EntryParameter, written: Type) -> bool:
    return actual.is_struct and written.kind == "value" and written.name not in _ELEMENTS


MOST_CHARACTERS = 2000


@frozen
class Type:
    """A parameter's type. ``pointee`` names what a pointer points to, without ``const``.

    ``kind`` is ``value``, ``pointer`` or ``reference``; ``name`` of a value is its C++ name.
    """

    kind: str
    name: str
    constant: bool = False

    def __str__(self) -> str:
        sign = {"pointer": "*", "reference": "&"}.get(self.kind, "")
        return f"{'const ' if self.constant else ''}{self.name}{sign}"


@frozen
class Signature:
    """Contents of a mangled name: the qualified name, template arguments, parameter types.

    ``types`` is None for a plain C name, which does not contain them. Template arguments are whole numbers
    where they are values, else texts.
    """

    scopes: tuple[str, ...]
    name: str
    template: tuple[int | str, ...] = ()
    types: tuple[Type, ...] | None = None

    def __str__(self) -> str:
        arguments = ", ".join(map(str, self.template))
        scopes = tuple(scope for scope in self.scopes if not scope.startswith("_"))
        return "::".join((*scopes, self.name)) + (f"<{arguments}>" if self.template else "")


@lru_cache(maxsize=256)
def read_name(symbol: str) -> Signature:
    """The signature behind a PTX name; one that we cannot read counts as a plain C name.

    It is cached: each launch of a program asks for that of its kernel.
    """
    if not symbol.startswith("_Z") or len(symbol) > MOST_CHARACTERS:
        return Signature((), symbol)
    import itanium_demangler  # noqa: PLC0415 - slow to load, and kept builds are named already

    try:
        tree = itanium_demangler.parse(symbol)
        return _signature(tree) if tree is not None and tree.kind == "func" else Signature((), symbol)
    except Exception:  # noqa: BLE001 - a hostile or unusual name must not end the build
        log_swallowed("the reading of a kernel's mangled name")
        return Signature((), symbol)


def _signature(tree: Any) -> Signature:  # noqa: ANN401 - the demangler's nodes have no types
    parts = tree.name.value if tree.name.kind == "qual_name" else (tree.name,)
    template: tuple[int | str, ...] = ()
    if parts[-1].kind == "tpl_args":
        template = tuple(_template_argument(argument) for argument in parts[-1].value)
        parts = parts[:-1]
    names = [str(part) for part in parts if part.kind != "tpl_args"]
    types = tuple(_type(argument) for argument in tree.arg_tys)
    if [str(parameter_type) for parameter_type in types] == ["void"]:
        types = ()
    return Signature(tuple(names[:-1]), names[-1], template, types)


def _template_argument(node: Any) -> int | str:  # noqa: ANN401
    if node.kind == "literal":
        text = str(node.value).replace("n", "-", 1)
        return int(text) if text.lstrip("-").isdigit() else text
    return str(_type(node))


def _type(node: Any) -> Type:  # noqa: ANN401
    if node.kind in ("pointer", "lvalue", "rvalue"):
        inner = _unqualified(node.value)
        if inner[0].kind == "func":  # it leads to code, and to no array
            return Type("value", str(node))
        kind = "pointer" if node.kind == "pointer" else "reference"
        return Type(kind, _spelt(inner[0]), inner[1])
    bare, _ = _unqualified(node)
    return Type("value", _spelt(bare))


def _unqualified(node: Any) -> tuple[Any, bool]:  # noqa: ANN401
    """A type without its qualifiers and array extents, and whether it is const."""
    constant = False
    while node.kind in ("cv_qual", "array"):
        constant |= node.kind == "cv_qual" and "const" in node.qual
        node = node.value if node.kind == "cv_qual" else node.ty
    return node, constant


def _spelt(node: Any) -> str:  # noqa: ANN401
    return str(_type(node)) if node.kind in ("pointer", "lvalue", "rvalue") else str(node)
