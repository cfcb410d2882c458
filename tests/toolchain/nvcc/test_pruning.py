"""Compile units without the declarations of CUDA's headers that they do not need."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.model import Build, Submission
from grader.toolchain.nvcc import build, find_toolchain, headers
from grader.toolchain.nvcc.header_declarations import declarations
from grader.toolchain.nvcc.headers import index_of, pruned, remember_declarations
from grader.toolchain.sandbox import Job, LocalSandbox, Result
from tests.toolchain.nvcc.conftest import FILE, INTERFACE, KERNEL, BuildSource

if TYPE_CHECKING:
    from pathlib import Path

FORMS = {
    "typedef unsigned long size_t;": {"size_t"},
    "typedef struct node { int next; } *link;": {"node", "link", "next"},
    "typedef void (*handler)(int code);": {"handler", "code"},
    "extern const uint3 __attribute__((device_builtin)) threadIdx;": {"threadIdx"},
    "struct __attribute__((aligned(8))) int2 { int x, y; };": {"int2"},
    "enum colour : int { red = (1 << 3), green };": {"colour", "red", "green"},
    "template<typename T> struct is_small : truth<(sizeof(T) < 4)> { };": {"is_small"},
    "template<typename F, typename... A> struct result<F(A...)> : public invoked<F> { };": {"result"},
    "template<> struct limits<float> { static int most() { return 1; } };": {"limits"},
    "struct pitched make_pitched(void *p, int w) { struct pitched s; return s; }": {"make_pitched"},
    "template<typename T, typename = enable_if<(sizeof(T) > 4)>> T twice(T x) { return x; }": {"twice"},
    "__attribute__((device)) float sinf(float x) noexcept (true);": {"sinf"},
    "using std::abs;": {"abs"},
    "using real = double;": {"real"},
    "template<class T> inline constexpr bool is_real = is_same<T, real>::value;": {"is_real"},
    'static_assert(sizeof(int) == 4, "a { in a text");': set(),
}


@pytest.mark.parametrize(("text", "names"), FORMS.items(), ids=FORMS)
def test_a_declaration_declares_its_names(text: str, names: set[str]) -> None:
    """It is taken for one declaration, whatever stands before and behind it; too many names do no harm."""
    every = declarations(f"int before;\n{text}\nint after() {{ return 0; }}\n")
    assert [d.declares and set(d.declares) for d in every[::2]] == [{"before"}, {"after"}]
    assert set(every[1].declares or ()) >= names
    assert every[1].declares is not None


EXACTLY = {
    "typedef count size;": {"size"},
    "typedef struct node *link, list[2];": {"node", "link", "list"},
    "typedef pair<count, count> corners;": {"corners"},
    "extern struct state now;": {"state", "now"},
    "inline constexpr count most = 64;": {"most"},
    "count first, *second = 0;": {"first", "second"},
    "uint3 __attribute__((device_builtin)) extern const threadIdx;": {"threadIdx"},
    "template<class T> inline constexpr count size_v<pair<T, T>> = 2;": {"size_v"},
    "template<class T, class U> const count table<T, U>::rows;": {"rows", "table"},
    "template<> int kind<char>(void) { return 1; }": {"kind"},
    "template<class T> enable<(sizeof(T) < 4), T>::type power(T x, int n) { return x; }": {"power"},
    "inline constexpr mark here{};": {"here"},
}


@pytest.mark.parametrize(("text", "names"), EXACTLY.items(), ids=EXACTLY)
def test_a_declaration_does_not_declare_the_types_that_it_mentions(text: str, names: set[str]) -> None:
    """Else whoever mentions ``size_t`` would keep all that is made of it: half of the headers."""
    (declaration,) = declarations(text)
    assert set(declaration.declares or ()) == names


@pytest.mark.parametrize(
    "text",
    [
        "bool operator==(pair a, pair b);",
        "using namespace std;",
        "void table::fill(int x) { y = x; }",
        "void (*signal(int number, void (*handler)(int)))(int);",
        "template struct vector<int>;",
        "int first = 1, second = 2;",
    ],
)
def test_what_a_declaration_declares_is_not_guessed(text: str) -> None:
    """A declaration that is not understood stays in every unit."""
    assert [d.declares for d in declarations(text)] == [None]
    assert index_of(text).required(()) == {0}


OPERATORS = """struct pair { int a; };
typedef pair corners;
template<class T> struct range { T from; };
bool operator==(const pair &a, const pair &b);
template<class T> bool operator<(range<T> a, range<T> b) { return helper(a); }
int helper(int x);
corners operator+(corners a, corners b);
template<class T> bool operator!=(T a, T b);
bool range::operator>(range a);
void *operator new(unsigned long);
pair origin();
"""


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("nothing", set()),
        ("pair", {"struct pair", "bool operator==", "typedef pair", "corners operator+"}),
        ("origin", {"struct pair", "bool operator==", "typedef pair", "corners operator+", "pair origin"}),
        ("range", {"template<class T> struct range", "template<class T> bool operator<", "int helper"}),
    ],
)
def test_an_operator_stays_with_a_type_that_it_is_applied_to(name: str, kept: set[str]) -> None:
    """By whatever name: one of its operands is a class or an enumeration, and has to come from somewhere.

    Operators of any type, members, and those that allocate memory stay always.
    """
    always = {"template<class T> bool operator!=", "bool range::operator>", "void *operator new"}
    index = index_of(OPERATORS)
    texts = [OPERATORS[start:end] for start, end, _ in index.pieces]
    expected = {text for text in texts if text.startswith(tuple(kept | always))}
    if name != "range":  # the member mentions its class, which is declared and kept with it
        expected |= {text for text in texts if "range" in text or "helper" in text}
    assert {texts[number] for number in index.required({name})} == expected


def test_namespaces_and_blocks_of_c_are_looked_into() -> None:
    """Their declarations are kept or left out one by one."""
    text = (
        'namespace a { inline namespace b __attribute__((x)) { int f(); } extern "C" { int g(); } } int h();'
    )
    assert [text[d.start : d.end] for d in declarations(text)] == ["int f();", "int g();", "int h();"]


@pytest.mark.parametrize("text", ["int f() { return 1;", "int f() } int g();"], ids=["open", "closed"])
def test_brackets_that_do_not_match_are_refused(text: str) -> None:
    """Such a text is no text of headers, and its units are compiled whole."""
    with pytest.raises(ValueError, match="bracket"):
        index_of(text)


HEADERS = """# 1 "a.h" 1
typedef unsigned count;
struct point {
  count x;
};
point
# 9 "a.h"
origin();
int far();
# 0 "<command-line>" 2
"""
OWN = '# 1 "grader_unit.cu"\n'


def pruned_later(unit: str, folder: Path) -> str | None:
    """Prune a unit once its headers are known."""
    remember_declarations(unit, folder)
    return pruned(unit, folder)


def test_what_is_mentioned_stays_with_what_it_needs(tmp_path: Path) -> None:
    """All that is left out leaves its line breaks behind, or the marker of the next line that has a text."""
    whole = pruned_later(f"{HEADERS}{OWN}int f() {{ return origin().x; }}\n", tmp_path)
    assert whole == f"{HEADERS}{OWN}int f() {{ return origin().x; }}\n".replace("int far();", "")
    without = pruned_later(f"{HEADERS}{OWN}int f();\n", tmp_path)
    assert without == '# 0 "<command-line>" 2\n' + f"{OWN}int f();\n"


@pytest.mark.parametrize(
    "unit",
    [
        f"{HEADERS}int f();\n",
        f"{HEADERS}{OWN}int \\u0066ar2();\n",
        f"int x;\n{OWN}{HEADERS}",
        f"int f() {{\n{OWN}int g();\n",
    ],
    ids=["no marker", "universal name", "longer than the headers", "open bracket"],
)
def test_a_unit_in_doubt_is_compiled_whole(unit: str, tmp_path: Path) -> None:
    """Nothing is left out where the headers' end is not seen, names hide, or nothing would be gained."""
    assert pruned_later(unit, tmp_path) is None


def test_an_index_is_kept_and_a_damaged_one_made_again(tmp_path: Path) -> None:
    """It is read back as it was; where the folder cannot be written, units are compiled whole."""
    unit = f"{HEADERS}{OWN}int f();\n"
    assert pruned(unit, tmp_path) is None
    first = pruned_later(unit, tmp_path)
    (kept,) = (tmp_path / "headers").iterdir()
    for content in (kept.read_bytes(), b"damaged"):
        kept.write_bytes(content)
        assert pruned_later(unit, tmp_path) == first
    kept.unlink()
    (tmp_path / "headers").rmdir()
    (tmp_path / "headers").write_bytes(b"")
    assert pruned_later(unit, tmp_path) is None


class Recording(LocalSandbox):
    """The local sandbox; it notes how long units are that are compiled, and what a shell starts."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.programs: set[str] = set()

    def run(self, job: Job) -> Result:
        """Run the job and note it."""
        self.lengths += [len(content) for name, content in job.files if name.endswith(".ii")]
        if job.argv[:2] == ("sh", "-c"):
            self.programs |= {command.split()[0] for command in job.argv[2].split(" && ")}
        return super().run(job)


@pytest.fixture
def sandbox() -> Recording:
    """A sandbox that notes what is compiled."""
    return Recording()


def _built(source: str, folder: Path, sandbox: LocalSandbox) -> Build:
    submission = Submission("ada", FILE, source.encode(), "digest")
    built = build(submission, INTERFACE, sandbox=sandbox, toolchain=find_toolchain(), cache=folder)
    return replace(built, seconds=())


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of builds in which it is kept what the toolchain's headers declare."""
    folder = tmp_path_factory.mktemp("builds")
    _built(KERNEL, folder, LocalSandbox())
    return folder


@pytest.fixture
def builds(indexed: Path, tmp_path: Path) -> Path:
    """Such a folder, in which nothing is built yet."""
    shutil.copytree(indexed / "headers", tmp_path / "headers")
    return tmp_path


def test_the_first_unit_is_compiled_whole(tmp_path: Path, sandbox: Recording) -> None:
    """It does not wait for the index of the headers, which is made beside the compilers for the next unit."""
    _built(KERNEL, tmp_path, sandbox)
    assert min(sandbox.lengths) > 1_000_000
    sandbox.lengths.clear()
    _built(KERNEL + "// changed\n", tmp_path, sandbox)
    assert max(sandbox.lengths) < 600_000


STYLES = {
    "plain": KERNEL,
    "overloads": KERNEL.replace("A[N]", "abs(A[N]) + max(N, 1) + std::abs(A[0]) + pow(A[0], 2)"),
    "state": "static __device__ int n; namespace { __constant__ float k[2]; }\n"
    + KERNEL.replace("A[N]", "k[atomicAdd(&n, 1) & 1] + __shfl_down_sync(~0u, A[N], 1)"),
    "host": KERNEL
    + "#include <cstdio>\nint main() { float *p; cudaMalloc(&p, 8); scale<<<1, 2>>>(p, p, 1);\n"
    'printf("%s", cudaGetErrorString(cudaDeviceSynchronize())); int x[] = {1, 2};\n'
    "for (int y : x) new int(y); }\n",
    "bindings": "__device__ float f(const float *A)"
    " { auto [a, b] = std::pair<float, float>(A[0], A[1]); return a + b; }\n"
    + KERNEL.replace("A[N]", "f(A)"),
    "operators": KERNEL
    + "bool less(std::pair<int, int> a, std::pair<int, int> b) { return a < b || a == b; }\n"
    + "bool end(std::reverse_iterator<int *> a, std::reverse_iterator<int *> b) { return a - b > 1; }\n",
}


@pytest.mark.parametrize("source", STYLES.values(), ids=STYLES)
def test_a_pruned_unit_gives_the_same_build(
    source: str, builds: Path, build_source: BuildSource, sandbox: Recording
) -> None:
    """Both builds are the same, byte by byte, and only pruned units were compiled."""
    assert _built(source, builds, sandbox) == replace(build_source(source), seconds=())
    assert len(sandbox.lengths) == 1
    assert sandbox.programs == {find_toolchain().compile[0]}, "a container may have nothing else"
    assert max(sandbox.lengths) < 600_000


@pytest.mark.parametrize(
    "source",
    [
        KERNEL.replace("A[N]", "nosuch(A[N])"),
        KERNEL.replace("{ C", "{ int unused; C"),
        KERNEL + "void cudaMalloc(int) { cudaMalloc(); }\n",
    ],
    ids=["error", "warning", "candidates"],
)
def test_messages_of_the_compiler_are_those_of_the_whole_unit(
    source: str, builds: Path, build_source: BuildSource, sandbox: Recording
) -> None:
    """Findings, warnings and the log are those of a build without pruning; one build reports them."""
    built = _built(source, builds, sandbox)
    assert built == replace(build_source(source), seconds=())
    assert built.findings or built.warnings or built.log
    assert max(sandbox.lengths) > 1_000_000


@pytest.mark.parametrize(
    "source",
    [KERNEL.replace("A[N]", "nosuch(A[N])"), KERNEL.replace("{ C", "{ int unused; C")],
    ids=["error", "warning"],
)
def test_a_file_with_a_message_is_compiled_whole_once(source: str, builds: Path, sandbox: Recording) -> None:
    """After what is needed of it, which is tried once."""
    _built(source, builds, sandbox)
    assert len(sandbox.lengths) == 2
    assert sum(length > 1_000_000 for length in sandbox.lengths) == 1


def test_where_the_code_is_another_one_both_builds_are_of_the_whole_unit(
    builds: Path, build_source: BuildSource, sandbox: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pruned unit that means something else, and of which the compiler spoke, decides nothing."""
    source = KERNEL.replace("{ C", "{ int unused; C")
    changed = source.replace("C[threadIdx.x] =", "C[threadIdx.x] = 1 +")
    assert changed != source
    monkeypatch.setattr(
        headers, "pruned", lambda unit, _: unit.replace("C[threadIdx.x] =", "C[threadIdx.x] = 1 +")
    )
    assert _built(source, builds, sandbox) == replace(build_source(source), seconds=())
    assert len([length for length in sandbox.lengths if length > 1_000_000]) == 3
