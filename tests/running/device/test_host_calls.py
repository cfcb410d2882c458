"""The results of the runtime's calls for a program, and the mistakes that are noted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.running.device.streams import Work, WorkKind
from tests.running.device.call_case import ARRAYS
from tests.running.device.calls_for_capture import CALLS_FOR_CAPTURE
from tests.running.device.calls_for_memory import CALLS_FOR_MEMORY
from tests.running.device.calls_for_order import CALLS_FOR_ORDER
from tests.running.device.calls_for_shared_memory import CALLS_FOR_SHARED_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.running.device.hosts import Ran

CASES = CALLS_FOR_MEMORY | CALLS_FOR_SHARED_MEMORY | CALLS_FOR_ORDER | CALLS_FOR_CAPTURE


@pytest.mark.parametrize("name", CASES)
def test_a_call_does_what_a_device_does(run_host: Callable[..., Ran], name: str) -> None:
    """Codes, data, and the mistakes that are noted."""
    case = CASES[name]
    ran = run_host(case.body)
    assert (ran.stdout, ran.mistakes, ran.returncode, ran.cut) == (case.printed, list(case.mistakes), 0, "")


@pytest.mark.parametrize(
    ("body", "code", "offset"),
    [
        (ARRAYS + "d[3] = 1;", "device-pointer-on-host", 12),
        (ARRAYS + 'std::memcpy(h, d + 1, 40); std::printf("%g", h[3]);', "device-pointer-on-host", 4),
        (ARRAYS + "cudaFree(d); return (int)d[0];", "freed-pointer-on-host", 0),
        ("volatile int *p = nullptr; return *p;", "host-fault", 0),
        (ARRAYS + "cudaMemcpy(nullptr, d, 16, cudaMemcpyDeviceToHost);", "host-fault", 0),
    ],
)
def test_a_fault_of_the_host_is_reported_with_its_address(
    run_host: Callable[..., Ran], body: str, code: str, offset: int
) -> None:
    """It ends the program as it would without us."""
    ran = run_host("void *any; cudaMalloc(&any, 4);" + body)
    mistake = ran.device.mistakes[-1]
    assert (str(mistake.code), dict(mistake.details)["offset"], ran.returncode) == (code, offset, -11)
    assert len(mistake.callers) > 1


def test_a_function_that_is_missing_ends_the_program_and_is_named(run_host: Callable[..., Ran]) -> None:
    """Its output before the call is not lost."""
    ran = run_host('void *any; cudaMalloc(&any, 4); std::printf("before"); cudaDestroyTextureObject(0);')
    assert (ran.mistakes, ran.returncode, ran.stdout) == (["unsupported"], 98, "before")
    assert dict(ran.device.mistakes[0].details) == {"name": "cudaDestroyTextureObject"}


@pytest.mark.parametrize(
    ("memory", "staged"),
    [
        ("std::malloc(80)", True),
        ("pinned", False),
        ("managed", False),
        ("registered", False),
        ("registered + 9", False),
        ("(char *)registered + 38", True),
        ("registered + 10", True),
    ],
)
def test_copies_overlap_where_memory_is_pinned(
    run_host: Callable[..., Ran], memory: str, *, staged: bool
) -> None:
    """Allocated so, registered, or managed; other copies go through a buffer of the driver."""
    ran = run_host(
        "float *d, *pinned, *managed; auto registered = (float *)std::malloc(80); cudaMalloc(&d, 80);"
        "cudaMallocHost((void **)&pinned, 80); cudaMallocManaged(&managed, 80);"
        "cudaHostRegister(registered, 40, 0); cudaStream_t s; cudaStreamCreate(&s);"
        f"cudaMemcpyAsync(d, {memory}, 4, cudaMemcpyHostToDevice, s);"
    )
    order = ran.device.order
    order.add(next(iter(ran.device.streams)), Work(WorkKind.KERNEL, 1, ()))
    assert (order.overlapping, order.staged) == (int(not staged), int(staged))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("void *d; cudaMalloc(&d, size_t{1} << 40); cudaSetDevice(7);", 2),
        ("cudaSetDevice(7); void *d; cudaMalloc(&d, size_t{1} << 40);", 101),
        ("void *d; cudaMalloc(&d, 4); cudaFree(d); cudaStreamQuery(0);", None),
    ],
)
def test_the_first_call_that_fails_is_kept(run_host: Callable[..., Ran], body: str, code: int | None) -> None:
    """One that fails without the device, too."""
    failure = run_host(body).device.first_failure
    assert (failure and failure.code) == code
    assert failure is None or failure.caller
