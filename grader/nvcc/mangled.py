"""C++-mangled kernel names: `_ZN2ns6matmulILi16EEEvPKfPfi` is `ns::matmul<16>(const float*, float*, int)`.

The grammar is that of the Itanium C++ ABI, section 5.1; `itanium_demangler` reads it to a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import itanium_demangler

MOST_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Signature:
    """What a mangled name says: the qualified name, template arguments, parameter types.

    ``types`` is None for a plain C name, which does not tell them. Template arguments are whole numbers
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


def read_name(symbol: str) -> Signature:
    """The signature behind a PTX name; one that we cannot read counts as a plain C name."""
    if not symbol.startswith("_Z") or len(symbol) > MOST_CHARACTERS:
        return Signature((), symbol)
    try:
        tree = itanium_demangler.parse(symbol)
        return _signature(tree) if tree is not None and tree.kind == "func" else Signature((), symbol)
    except Exception:  # noqa: BLE001 - a hostile or unusual name must not end the build
        return Signature((), symbol)


def _signature(tree: Any) -> Signature:  # noqa: ANN401 - the demangler's nodes have no types
    parts = tree.name.value if tree.name.kind == "qual_name" else (tree.name,)
    template: tuple[int | str, ...] = ()
    if parts[-1].kind == "tpl_args":
        template = tuple(_template_argument(argument) for argument in parts[-1].value)
        parts = parts[:-1]
    names = [str(part) for part in parts if part.kind != "tpl_args"]
    types = tuple(_type(argument) for argument in tree.arg_tys)
    if [str(each) for each in types] == ["void"]:
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
