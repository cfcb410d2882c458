"""Whole programs without a GPU: what their launches and their host code show, and what is not their fault."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.simulation.emulator.launch import Kernel
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.kinds.reversing_program import RIGHT, YAML, Graded, grading, results_of

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox; the stand-in is compiled once for this file's tests."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


@pytest.fixture
def graded(tools: Tools, tmp_path: Path) -> Graded:
    """Grade a program on the emulator."""
    return grading(tools, tmp_path)


def test_a_right_program_earns_everything(graded: Graded) -> None:
    """Its launch, its copies and its output."""
    grade = graded(RIGHT)
    assert (grade.verdict, grade.score, grade.backend) == (Verdict.PASS, Fraction(40), "emulator")


def test_a_race_of_a_launch_is_reported_with_both_lines(graded: Graded) -> None:
    """The barrier is left out; what is printed may still be right."""
    result = results_of(graded(RIGHT.replace("    __syncthreads();\n", "\n")))["races"]
    assert result.verdict is Verdict.FAIL
    assert {result.findings[0].line, result.findings[0].other_line} == {4, 6}


def test_an_access_beyond_what_was_allocated_is_reported_with_the_hosts_name_of_it(graded: Graded) -> None:
    """The array in the finding is the pointer of ``main``."""
    grade = graded(RIGHT.replace("p[threadIdx.x] = s", "p[threadIdx.x + 1] = s"))
    (finding,) = results_of(grade)["memory"].findings
    assert (finding.line, finding.array) == (6, "device")


def test_a_mistake_of_the_host_is_reported_with_its_line(graded: Graded) -> None:
    """Here the direction of the first copy."""
    wrong = RIGHT.replace("cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost")
    findings = {str(finding.code): finding.line for finding in results_of(graded(wrong))["host"].findings}
    assert findings["host-wrong-direction"] == 11


def test_a_function_that_is_not_supported_is_a_question_to_staff(graded: Graded) -> None:
    """Earlier right items have their points, and the maximum stays; the function and the line are named."""
    texture = "cudaTextureObject_t t; cudaCreateTextureObject(&t, nullptr, nullptr, nullptr);"
    grade = graded(RIGHT.replace("cudaFree(device);", texture))
    assert (grade.verdict, grade.is_question) == (Verdict.ERROR, True)
    assert (grade.score, grade.max_score) == (Fraction(5), Fraction(40))
    assert "not supported here: `cudaCreateTextureObject`, line 15" in results_of(grade)["races"].message


def test_launches_that_take_too_much_work_cost_nothing(
    graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items that depend on them are not judged; the others are."""
    monkeypatch.setattr("grader.kinds.host_runs.running.STEPS_A_SECOND", 10)
    long = RIGHT.replace("    __syncthreads();", "    for (int i = 0; i < 9999; ++i) __syncthreads();")
    grade = graded(long.replace("cudaFree(device);", "cudaFree(device); return 0;"))
    verdicts = {name: result.verdict for name, result in results_of(grade).items()}
    assert verdicts == {
        "ends": Verdict.PASS,
        "says": Verdict.SKIP,
        "races": Verdict.SKIP,
        "memory": Verdict.SKIP,
        "host": Verdict.SKIP,
    }
    message = results_of(grade)["races"].message
    assert "too much work for the emulator: after" in message
    assert "this is `reverse<<<(1, 1, 1), (8, 1, 1)>>>` in line 12" in message


@pytest.mark.parametrize("end", ['throw "a failed call"', "abort()", "*(volatile int *)nullptr = 1"])
def test_a_program_that_crashes_as_its_launch_was_given_up_loses_nothing_for_it(
    end: str, graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No device would have reported the error that it crashes for."""
    monkeypatch.setattr("grader.kinds.host_runs.running.STEPS_A_SECOND", 10)
    long = RIGHT.replace("    __syncthreads();", "    for (int i = 0; i < 9999; ++i) __syncthreads();")
    crashing = long.replace("<<<1, 8>>>(device);", f"<<<1, 8>>>(device); if (cudaDeviceSynchronize()) {end};")
    grade = graded(crashing.replace("#include <cstdio>", "#include <cstdio>\n#include <cstdlib>"))
    assert {result.verdict for result in results_of(grade).values()} == {Verdict.SKIP}


def test_a_program_that_crashes_as_its_kernel_is_not_interpreted_loses_nothing_for_it(graded: Graded) -> None:
    """It is a question to staff, as where it ends well."""
    by_hand = 'asm volatile("{ .reg .b32 x; vadd.s32.s32.s32 x, 1, 2, 3; }"); __syncthreads();'
    crashing = RIGHT.replace(
        "<<<1, 8>>>(device);", '<<<1, 8>>>(device); if (cudaDeviceSynchronize()) throw "";'
    )
    results = results_of(graded(crashing.replace("__syncthreads();", by_hand)))
    assert {result.verdict for result in results.values()} == {Verdict.ERROR}


def test_no_kernel_of_a_program_is_run_warp_by_warp(graded: Graded, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of such a run is compared only for kernels that are handed in by themselves."""
    entries: list[str] = []

    def note(kernel: Kernel, *_: object) -> tuple[()]:
        entries.append(kernel.entry)
        return ()

    monkeypatch.setattr(Kernel, "warp_by_warp", note)
    other = "__global__ void look(volatile int *p) { if (p[threadIdx.x] > 99) p[threadIdx.x] = 0; }\n"
    both = RIGHT.replace("int main", f"{other}int main")
    both = both.replace("<<<1, 8>>>(device);", "<<<1, 8>>>(device); look<<<1, 8>>>(device);")
    assert graded(both).score == Fraction(40)
    assert entries == []


@pytest.mark.slow
def test_a_host_that_never_ends_is_the_programs_fault(graded: Graded) -> None:
    """Its launches took no time to speak of; it is stopped when its own seconds are over."""
    grade = graded(RIGHT.replace("cudaFree(device);", "for (volatile bool on = true; on;) {}"))
    assert results_of(grade)["ends"].verdict is Verdict.FAIL
    assert "its host code was still running after 2 s" in results_of(grade)["ends"].message
    assert "it last called the GPU on line 13" in results_of(grade)["ends"].message
    assert "kernel" not in results_of(grade)["races"].message
    assert 2 <= (grade.cases[0].seconds or 0) < 5


@pytest.mark.slow
def test_a_host_that_sleeps_before_its_first_call_is_stopped_as_soon(graded: Graded) -> None:
    """It takes no processor time, and its device hears nothing of it at all."""
    sleeping = "#include <unistd.h>\nint main() { for (volatile bool on = true; on;) sleep(1);"
    grade = graded(RIGHT.replace("int main() {", sleeping))
    assert "after 2 s and was stopped; it had not called the GPU yet" in results_of(grade)["ends"].message
    assert 2 <= (grade.cases[0].seconds or 0) < 5


SHARED = r"""#include <cstdio>
__global__ void fill(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 8 - threadIdx.x; }
int main() {
    int *used, *other;
    cudaMallocManaged(&used, 32);
    cudaMallocManaged(&other, 32);
    cudaStream_t s;
    cudaStreamCreate(&s);
    fill<<<1, 8, 0, s>>>(used, 8);
    other[0] = 1;
    cudaStreamSynchronize(s);
    for (int i = 0; i < 8; ++i) std::printf("%d%c", used[i], i < 7 ? ' ' : '\n');
    cudaStreamDestroy(s);
    cudaFree(used);
    cudaFree(other);
}
"""


def test_managed_memory_that_no_kernel_is_at_work_on_may_be_used(graded: Graded) -> None:
    """And that of a stream once it is waited for: what overlaps on purpose is no mistake."""
    grade = graded(SHARED)
    assert (grade.verdict, grade.score) == (Verdict.PASS, Fraction(40))


def test_managed_memory_that_a_kernel_may_still_write_is_reported_with_the_line(graded: Graded) -> None:
    """The line on which the host reads it."""
    result = results_of(graded(SHARED.replace("cudaStreamSynchronize(s);", "")))["host"]
    assert [(str(finding.code), finding.line) for finding in result.findings] == [("host-touched-early", 12)]


HALVES = r"""#include <cstdio>
__global__ void twice(int *to, const int *from) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
int main() {
    int *m;
    cudaMallocManaged(&m, 16 * sizeof *m);
    for (int i = 0; i < 8; ++i) m[i] = i < 4 ? 4 - i : 0;
    twice<<<1, 4>>>(m + 8, m);
    m[4] = 9;
    m[12] = m[4];
    cudaDeviceSynchronize();
    m[0] = 1;
    for (int i = 0; i < 4; ++i) std::printf("%d %d ", m[8 + i], m[8 + i] - 1);
    std::printf("%d\\n", m[12]);
    cudaFree(m);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("", "", []),
        ("m[4] = 9;", "m[3] = 9;", [("host-touched-early", 8)]),
        ("m[4] = 9;", "m[4] = m[11];", [("host-touched-early", 8)]),
        ("m[4] = 9;", "m[4] = m[0];", []),
    ],
)
def test_shared_memory_is_in_use_byte_by_byte(
    graded: Graded, old: str, new: str, reported: list[tuple[str, int]]
) -> None:
    """The host may use what a kernel leaves alone, and read what it reads, but not write it."""
    findings = results_of(graded(HALVES.replace(old, new)))["host"].findings
    assert [(str(finding.code), finding.line) for finding in findings] == reported


def test_the_end_of_a_buffer_that_is_copied_back_unused_costs_nothing(graded: Graded) -> None:
    """A right program may copy more than it needs; a copy of memory that was never written is reported."""
    longer = RIGHT.replace("int host[8]", "int host[12]").replace(
        "sizeof host, cudaMemcpyH", "32, cudaMemcpyH"
    )
    assert graded(longer).score == Fraction(40)
    nothing = RIGHT.replace("reverse<<<1, 8>>>(device);", "").replace(
        "cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);", ""
    )
    (finding,) = results_of(graded(nothing))["host"].findings
    assert str(finding.code) == "host-never-written"


STREAMS = r"""#include <cstdio>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main() {
    int *host, *device;
    cudaStream_t s[2];
    cudaMallocHost(&host, 8 * sizeof(int));
    cudaMalloc(&device, 8 * sizeof(int));
    for (int i = 0; i < 8; ++i) host[i] = 8 - i;
    for (auto &stream : s) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2; ++i) {
        cudaMemcpyAsync(device + 4 * i, host + 4 * i, 16, cudaMemcpyHostToDevice, s[i]);
        twice<<<1, 4, 0, s[i]>>>(device + 4 * i);
        cudaMemcpyAsync(host + 4 * i, device + 4 * i, 16, cudaMemcpyDeviceToHost, s[i]);
    }
    for (auto &stream : s) cudaStreamSynchronize(stream);
    for (int i = 0; i < 8; ++i) std::printf("%d%c", host[i] / 2, i < 7 ? ' ' : '\n');
    for (auto &stream : s) cudaStreamDestroy(stream);
    cudaFree(device);
    cudaFreeHost(host);
}
"""


def test_two_streams_may_work_on_two_halves(graded: Graded) -> None:
    """Copies and kernels overlap, and share nothing."""
    grade = graded(STREAMS)
    assert (grade.verdict, grade.score) == (Verdict.PASS, Fraction(40))


def test_a_race_of_two_streams_is_reported_with_both_lines(graded: Graded) -> None:
    """The kernels of both halves run in the first stream, and their copies in their own."""
    result = results_of(graded(STREAMS.replace("0, s[i]>>>", "0, s[0]>>>")))["host"]
    races = {(finding.line, finding.other_line) for finding in result.findings}
    assert races == {(12, 11), (13, 12)}
    assert {finding.address for finding in result.findings} == {"device"}
    assert result.findings[0].message == (
        "kernel twice reads device while a copy writes it in another stream on line 11, and nothing makes "
        "one wait for the other"
    )


_TIMED = """cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b), cudaEventRecord(a), cudaEventRecord(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    cudaFree(device);"""

OTHER_MISTAKES = {
    "leak": ("cudaFree(device);", ""),
    "never-copied-back": ("cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);", ""),
    "memset-of-elements": ("reverse<<<", "cudaMemset(device + 8, 1000, 4); reverse<<<"),
    "event-not-waited-for": ("cudaFree(device);", _TIMED),
}


@pytest.mark.parametrize("name", OTHER_MISTAKES)
def test_a_mistake_that_gives_right_results_is_reported(graded: Graded, name: str) -> None:
    """By its code."""
    source = RIGHT.replace("&device, sizeof host", "&device, 2 * sizeof host")
    assert f"host-{name}" not in _codes(graded(source))
    assert f"host-{name}" in _codes(graded(source.replace(*OTHER_MISTAKES[name])))


def _codes(grade: Grade) -> set[str]:
    return {str(finding.code) for item in grade.items for finding in item.result.findings}


@pytest.mark.parametrize(
    ("item", "mistake", "points"),
    [
        ("{id: host, points: 10, check: host}", "leak", 10),
        ("{id: host, points: 10, check: host, severity: info}", "leak", 0),
        ("{id: host, points: 10, check: host, severity: info, ignore: [leak]}", "leak", 10),
        ("{id: host, points: 10, check: host}", "event-not-waited-for", 0),
        ("{id: host, points: 10, check: host, severity: error}", "event-not-waited-for", 10),
        ("{id: host, points: 10, check: host, ignore: [event-not-waited-for]}", "event-not-waited-for", 10),
        ("{id: host, points: 10, check: host, ignore: [leak]}", "event-not-waited-for", 0),
    ],
)
def test_an_item_lists_what_costs_it(
    tools: Tools, tmp_path: Path, item: str, mistake: str, points: int
) -> None:
    """By how grave a mistake is, and by its name."""
    head, _, _ = YAML.partition("rubric:")
    (tmp_path / "assignment.yaml").write_text(f"{head}rubric:\n  - {item}\n")
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)
    source = RIGHT.replace(*OTHER_MISTAKES[mistake]).encode()
    grade = pipeline.grade(plan, Submission("ada", "shift.cu", source, "0" * 8), tools)
    assert grade.score == points


SYMBOLS = r"""#include <cstdio>
__constant__ int factors[8] = {1, 1, 1, 1, 1, 1, 1, 1};
__device__ int table[8];
__device__ __managed__ int shared[8];
__global__ void scale(int *p, const int *q, size_t n) { if (threadIdx.x < n) p[threadIdx.x] *= factors[0]; }
int main() {
    int host[8] = {8, 7, 6, 5, 4, 3, 2, 1}, *device, *address;
    cudaMalloc(&device, sizeof host);
    cudaGetSymbolAddress((void **)&address, table);
    cudaMemcpyToSymbol(factors, host + 7, sizeof *host);
    cudaMemcpyToSymbol(table, host, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    scale<<<1, 8>>>(device, address, 8);
    scale<<<1, 8>>>(shared, nullptr, 8);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(host, table, sizeof *host);
    for (int i = 0; i < 8; ++i) std::printf("%d%c", host[i], i < 7 ? ' ' : '\n');
    cudaFree(device);
}
"""


def test_a_variable_is_no_pointer_on_the_host(graded: Graded) -> None:
    """Its name and its kind are reported, in a launch and in a copy; uses as CUDA wants are left alone."""
    right = graded(SYMBOLS)
    assert (right.verdict, _codes(right)) == (Verdict.PASS, set())
    wrong = SYMBOLS.replace("device, address, 8", "device, table + 2, 8").replace(
        "cudaMemcpyToSymbol(factors, host + 7, sizeof *host)",
        "cudaMemcpy(factors, host + 7, sizeof *host, cudaMemcpyHostToDevice)",
    )
    findings = results_of(graded(wrong))["host"].findings
    assert [(str(finding.code), finding.line) for finding in findings] == [
        ("host-symbol-as-pointer", 10),
        ("host-symbol-as-pointer", 13),
    ]
    assert findings[0].message.startswith("`factors` is __constant__, and its name is no pointer on the host")
    assert findings[1].message.startswith("`table` is __device__")


HEAP = r"""#include <cstdio>
__global__ void take(int *got) {
    char *p = (char *)malloc(20 << 20);
    *got = p != nullptr;
    free(p);
}
int main() {
    int *got, value;
    cudaMalloc(&got, sizeof *got);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
    take<<<1, 1>>>(got);
    cudaMemcpy(&value, got, sizeof value, cudaMemcpyDeviceToHost);
    std::printf("%d %s\n", value, cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 96 << 20)));
    cudaFree(got);
}
"""


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        (HEAP, "1 cudaErrorInvalidValue"),
        (
            HEAP.replace("    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);\n", ""),
            "0 cudaErrorInvalidValue",
        ),
    ],
)
def test_the_heap_of_kernels_is_as_large_as_the_program_asks_for(
    graded: Graded, source: str, printed: str
) -> None:
    """And is what it is once a kernel has used it."""
    (case,) = graded(source).evidence.cases  # type: ignore[union-attr]
    assert case.program is not None
    assert case.program.stdout.decode() == f"{printed}\n"


def test_shared_memory_is_none_of_the_programs_own(tools: Tools, tmp_path: Path) -> None:
    """More managed memory than the address space that `memory` allows for: the device's own limit counts."""
    yaml = YAML.replace("seconds: 2,", "seconds: 2, memory: 64, device_memory: 640,")
    (tmp_path / "assignment.yaml").write_text(yaml)
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)
    source = """#include <cstdio>
    int main() {
        char *large, *small;
        std::puts(cudaGetErrorName(cudaMallocManaged(&large, size_t(620) << 20)));
        std::puts(cudaGetErrorName(cudaMallocManaged(&small, 4096)));
        small[0] = 'x';
        std::puts(cudaGetErrorName(cudaMallocManaged(&small, size_t(21) << 20)));
        cudaFree(large);
    }
    """
    grade = pipeline.grade(plan, Submission("ada", "shift.cu", source.encode(), "0" * 8), tools)
    (case,) = grade.evidence.cases  # type: ignore[union-attr]
    assert case.program is not None
    assert case.program.stdout.decode().split() == ["cudaSuccess", "cudaSuccess", "cudaErrorMemoryAllocation"]


def test_a_fault_of_the_host_is_reported_with_its_line(graded: Graded) -> None:
    """Device memory that the host reads, and no memory at all."""
    for line, code in (("host[0] = *device;", "host-device-pointer"), ("*(int *)8 = 1;", "host-fault")):
        result = results_of(graded(RIGHT.replace("cudaFree(device);", f"{line} cudaFree(device);")))["host"]
        assert [(str(finding.code), finding.line) for finding in result.findings] == [(code, 15)]
    message = "line 15: host code uses address 0x8 (a null pointer), where it has no memory"
    assert result.message == message


def test_a_program_that_talks_to_the_device_by_itself_loses_what_it_loses_else(graded: Graded) -> None:
    """It prints what is asked for and breaks the protocol: that is a mistake of its host."""
    cheat = """#include <cstdio>
    #include <sys/socket.h>
    int main() {
        int *d;
        cudaMalloc(&d, 4);
        std::puts("8 7 6 5 4 3 2 1");
        std::fflush(stdout);
        for (int fd = 3; fd < 64; ++fd) send(fd, "this is no message", 18, MSG_NOSIGNAL);
    }
    """
    grade = graded(cheat)
    assert (grade.verdict, grade.max_score) == (Verdict.FAIL, Fraction(40))
    assert {name for name, result in results_of(grade).items() if result.verdict is Verdict.FAIL} >= {
        "races",
        "memory",
        "host",
    }
    assert _codes(grade) >= {"host-forged-message"}
    assert "by itself" in results_of(grade)["host"].message


def _first(grade: Grade) -> str:
    return "" if grade.cause is None else grade.cause.code


WRONG = RIGHT.replace("s[7 - threadIdx.x]", "s[6 - threadIdx.x % 7]")
BACK = "    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);\n"


def test_a_result_that_never_comes_back_is_what_comes_first(graded: Graded) -> None:
    """Also where it was copied back before the kernel was launched."""
    assert _first(graded(RIGHT.replace(BACK, ""))) == "host-never-copied-back"
    launch = "    reverse<<<1, 8>>>(device);\n"
    assert _first(graded(RIGHT.replace(launch + BACK, BACK + launch))) == "host-never-copied-back"


def test_a_result_that_came_back_before_a_last_launch_is_not_missed(graded: Graded) -> None:
    """Such as one that only takes its time: that the numbers are wrong has another reason."""
    grade = graded(WRONG.replace("    cudaFree", "    reverse<<<1, 8>>>(device);\n    cudaFree"))
    assert results_of(grade)["says"].verdict is Verdict.FAIL
    assert _first(grade) == ""


COOPERATIVE = r"""#include <cooperative_groups.h>
#include <cstdio>
__global__ void reverse(int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1;
    cooperative_groups::this_grid().sync();
    b[i] = a[7 - i];
}
int main() {
    int host[8], *a, *b;
    cudaMalloc(&a, sizeof host); cudaMalloc(&b, sizeof host);
    void *arguments[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)reverse, dim3(2), dim3(4), arguments, 0, 0);
    cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8; ++i) std::printf("%d%c", host[i], i < 7 ? ' ' : '\n');
    cudaFree(a); cudaFree(b);
}
"""


def test_a_launch_that_is_not_cooperative_is_the_cause_of_a_kernels_trap(graded: Graded) -> None:
    """Its line comes first, and what the kernel does then is no mistake of a pointer."""
    right = graded(COOPERATIVE)
    assert (right.verdict, _codes(right)) == (Verdict.PASS, set())
    plain = "reverse<<<2, 4>>>(a, b);"
    launch = "cudaLaunchCooperativeKernel((void *)reverse, dim3(2), dim3(4), arguments, 0, 0);"
    grade = graded(COOPERATIVE.replace(launch, plain))
    assert grade.cause is not None
    assert (str(grade.cause.code), grade.cause.line) == ("host-not-cooperative", 13)


def test_a_call_that_fails_is_the_cause_of_wrong_results_alone(graded: Graded) -> None:
    """The program does not look at the error; where its results are right, the call was not needed."""
    copied = "cudaMemcpyToSymbol(factors, host + 7, sizeof *host)"
    failing = 'cudaMemcpyToSymbol("factors", host + 7, sizeof *host)'
    grade = graded(
        SYMBOLS.replace(copied, failing).replace("host[8] = {8, 7, 6, 5, 4, 3, 2, 1}", "host[8] = {}")
    )
    assert grade.cause is not None
    assert (str(grade.cause.code), grade.cause.line) == ("call-failed", 10)
    assert grade.cause.message == (
        "`cudaMemcpyToSymbol` fails with “invalid device symbol”; nothing was done, and the program goes on"
    )
    assert graded(SYMBOLS.replace(copied, f"{copied}; {failing}")).cause is None
