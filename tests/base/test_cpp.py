"""C++ text is parsed once: names, comments and strings are where a compiler sees them."""

from __future__ import annotations

import pytest

from grader.base.cpp import CppText, declared_name

NOT_CODE = {
    "a comment": ("a; // {\nb;", "a;     \nb;"),
    "a comment over lines": ("a; /* {\n} */ b;", "a;     \n     b;"),
    "a comment that goes on": ("a; // x \\\n{\nb;", "a;       \n \nb;"),
    "a string": ('f("/* { \\" //"); b;', "f(            ); b;"),
    "a raw string": ('s = R"x({ )" }\n/*)x"; b;', "s =           \n     ; b;"),
    "a character": ("c = '\"'; d = '{'; b;", "c =    ; d =    ; b;"),
    "digits in groups": ("x = 1'000'000; b;", "x = 1'000'000; b;"),
    "a directive": ('a;\n#define X { \\\n  "\nb;', "a;\n             \n   \nb;"),
    "letters of a language": ("größe = 1; // é\nb;", "größe = 1;     \nb;"),
}


@pytest.mark.parametrize("name", NOT_CODE)
def test_what_is_no_code_is_blank(name: str) -> None:
    """Comments, strings and directives, with everything else where it was."""
    text, code = NOT_CODE[name]
    assert CppText(text).code == code


def test_a_name_is_that_of_the_text_behind_any_character() -> None:
    """Places in the tree are places of characters, however many bytes those have."""
    cpp = CppText('/* größer als 🙂 */ const char *näme = "ü", other[3];')
    (declaration,) = cpp.nodes("declaration")
    declarators = declaration.children_by_field_name("declarator")
    assert [cpp.of(declared_name(node)) for node in declarators] == ["näme", "other"]


def test_a_text_that_takes_too_long_has_no_tree() -> None:
    """Nothing raises, and nothing is found in it."""
    cpp = CppText("a<" * 500_000)
    assert cpp.root is None
    assert list(cpp.nodes("identifier")) == []
    assert (cpp.without_comments, cpp.code) == ("", "")


def test_what_is_around_an_error_is_read() -> None:
    """A statement that is wrong costs itself alone."""
    cpp = CppText("const int A = 3; int b = ; void f() { return 1 } const int C = 4;")
    names = [cpp.of(node.child_by_field_name("declarator")) for node in cpp.nodes("init_declarator")]
    assert {"A", "C"} <= set(names)
