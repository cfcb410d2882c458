"""Programs that attack their device: each is cut off or refused, in bounded time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from grader.device.device import MOST_MISTAKES
from grader.device.requests import (
    OPERATIONS,
    Allocate,
    CopyOnHost,
    CopyOut,
    CreateStream,
    Fault,
    Fill,
    Hello,
    LaunchKernel,
    MemoryInfo,
    Pull,
    Push,
    SetLimit,
    Touched,
    Unsupported,
)
from tests.device.hosts import compile_host, serve

if TYPE_CHECKING:
    from pathlib import Path

    from grader.device.requests import Message
    from grader.nvcc import Tools

SECONDS = 30.0
"""What a session may take here; attacks that only take time are given less."""

# The program finds the connection that the stand-in has opened, and speaks over it by itself.
_PRELUDE = """
#include <cstdint>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <vector>
using U = std::uint64_t;
static int line = -1;
static void find_line() {
    void *any; cudaMalloc(&any, 4);
    for (int fd = 3; fd < 64; ++fd) {
        sockaddr_un name{}; socklen_t size = sizeof name;
        if (!getpeername(fd, (sockaddr *)&name, &size) && name.sun_family == AF_UNIX) line = fd;
    }
}
struct Bytes : std::vector<unsigned char> {
    template <class T> Bytes &add(T value) {
        auto p = (const unsigned char *)&value; insert(end(), p, p + sizeof value); return *this;
    }
};
static bool say(std::uint32_t operation, const Bytes &payload = {}, long announced = -1) {
    Bytes all; all.add(operation).add(std::uint32_t(announced < 0 ? payload.size() : announced)).add(U{0});
    all.insert(all.end(), payload.begin(), payload.end());
    return send(line, all.data(), all.size(), MSG_NOSIGNAL) == (ssize_t)all.size();
}
static int hear() {
    struct { std::int32_t code; std::uint32_t size, printed, complaints; } head;
    if (recv(line, &head, sizeof head, MSG_WAITALL) != sizeof head) return -1;
    std::vector<char> rest(head.size + head.printed + head.complaints);
    if (!rest.empty()) recv(line, rest.data(), rest.size(), MSG_WAITALL);
    return head.code;
}
"""


class Attack(NamedTuple):
    """What the program does once it has found its connection; why it is cut off; what it prints before."""

    body: str
    cut: str = ""
    printed: str = ""


def _number(kind: type[Message]) -> int:
    return OPERATIONS.index(kind) + 1


def _copy_out(address: str, pitch: str, width: str, height: str) -> str:
    """A copy to the host that the stand-in would never ask for."""
    numbers = "".join(f".add(U{{{number}}})" for number in ("0", "8", address, pitch, width, height))
    device_to_host = ".add(std::uint32_t{2}).add(U{0}).add(std::uint32_t{0})"
    return f"say({_number(CopyOut)}, Bytes{{}}{numbers}{device_to_host});"


_HUGE = "0xFFFFFFFFFFFFFFFFull"
_SAY_CODE = 'std::printf("%d\\n", hear());'

ATTACKS = {
    "a second greeting": Attack(
        f"say({_number(Hello)}, Bytes{{}}.add(std::uint32_t{{1}}).add(U{{0}})); hear();", "introduces itself"
    ),
    "an operation that is not there": Attack("say(999); hear();", "there is no operation 999"),
    "no operation": Attack("say(0); hear();", "there is no operation 0"),
    "a payload of four gigabytes": Attack("say(2, {}, 0xFFFFFFFF); hear();", "a payload of 4294967295 bytes"),
    "half a message": Attack('send(line, "abc", 3, 0); sleep(60);', "when its time was over"),
    "a payload that never comes": Attack("say(2, {}, 20); sleep(60);", "when its time was over"),
    "a launch of a kernel that is not there": Attack(
        f"Bytes b; b.add(std::uint32_t{{7}}); for (int i = 0; i < 6; ++i) b.add(std::uint32_t{{1}});"
        f"b.add(U{{0}}).add(U{{0}}).add(std::uint32_t{{0}});"
        f"say({_number(LaunchKernel)}, b); hear();",
        "there is no kernel 7",
    ),
    "the limit of a kernel that is not there": Attack(
        f"say({_number(SetLimit)}, Bytes{{}}.add(std::uint32_t{{0x80000005}}).add(U{{1}})); hear();",
        "there is no kernel 5",
    ),
    "memory of a kind that is not there": Attack(
        f"say({_number(Allocate)}, Bytes{{}}.add(U{{8}}).add(std::uint32_t{{9}}).add(U{{0}})); hear();",
        "memory of kind 9",
    ),
    "all memory there could ever be": Attack(
        f"say({_number(Allocate)}, Bytes{{}}.add(U{{{_HUGE}}}).add(std::uint32_t{{0}}).add(U{{0}}));"
        f"{_SAY_CODE}",
        "",
        "2\n",
    ),
    "a write to memory that is not shared": Attack(
        f"void *d; cudaMalloc(&d, 64); say({_number(Push)}, Bytes{{}}.add(U(d)).add(U{{64}}));hear();",
        "the host writes what it does not share",
    ),
    "a write to more shared memory than there is": Attack(
        f"void *d; cudaMallocManaged(&d, 64); say({_number(Push)}, Bytes{{}}.add(U(d)).add(U{{65}}));hear();",
        "the host writes what it does not share",
    ),
    "a read of memory that is nobody's": Attack(
        f"say({_number(Pull)}, Bytes{{}}.add(U{{0x1000}}).add(U{{64}}));hear();",
        "the host reads what it does not share",
    ),
    "a copy whose size overflows": Attack(
        f"void *d; cudaMalloc(&d, 64); {_copy_out('U(d)', '8', '1ull << 63', '2')}" + _SAY_CODE,
        "",
        "1\n",
    ),
    "a copy that begins behind all addresses": Attack(
        f"{_copy_out(_HUGE, '8', '8', '1')} {_SAY_CODE}", "", "1\n"
    ),
    "rows that step backwards out of memory": Attack(
        f"void *d; cudaMalloc(&d, 64); {_copy_out('U(d)', _HUGE, '8', '4')}" + _SAY_CODE,
        "",
        "1\n",
    ),
    "rows of nothing without end": Attack(
        f"void *d; cudaMalloc(&d, 64); {_copy_out('U(d)', '0', '0', '1ull << 40')} hear();", "of nothing"
    ),
    "a copy of no rows": Attack(
        f"void *d; cudaMalloc(&d, 64); {_copy_out('U(d)', '8', '8', '0')} hear();", "of nothing"
    ),
    "a copy of a kind that is not there": Attack(
        f"Bytes b; for (int i = 0; i < 6; ++i) b.add(U{{1}}); b.add(std::uint32_t{{77}}).add(U{{0}});"
        f"b.add(std::uint32_t{{0}}); say({_number(CopyOnHost)}, b); hear();",
        "a copy of kind 77",
    ),
    "a fill of nothing": Attack(
        "void *d; cudaMalloc(&d, 64); Bytes b; b.add(U(d)).add(U{8}).add(std::uint32_t{256}).add(U{0});"
        f"b.add(U{{1}}).add(U{{0}}).add(std::uint32_t{{0}}); say({_number(Fill)}, b); hear();",
        "a copy or fill of nothing",
    ),
    "a name that is no text": Attack(
        f"say({_number(Unsupported)}, Bytes{{}}.add(std::uint32_t{{2}}).add('\\xff').add('\\xfe')); hear();",
        "a name that is not ASCII",
    ),
    "more callers than a message has": Attack(
        f"say({_number(Fault)}, Bytes{{}}.add(U{{0}}).add(std::uint32_t{{0}})"
        ".add(std::uint32_t{0xFFFFFFFF})); sleep(60);",
        "4294967295 items",
    ),
    "a second connection": Attack(
        "sockaddr_un name{}; name.sun_family = AF_UNIX;"
        'std::strcpy(name.sun_path, std::getenv("GRADER_DEVICE"));'
        "int other = socket(AF_UNIX, SOCK_STREAM, 0);"
        'std::printf("%d\\n", connect(other, (sockaddr *)&name, sizeof name) ? 1 : 0);',
        "",
        "1\n",
    ),
    "a child that speaks for its parent": Attack(
        f"if (!syscall(SYS_fork)) {{ say({_number(Hello)}, Bytes{{}}.add(std::uint32_t{{1}}).add(U{{0}}));"
        "_exit(0); }"
        "sleep(60);",
        "introduces itself",
    ),
    "answers that nobody reads": Attack(
        f"for (int i = 0; i < 2000000; ++i) if (!say({_number(MemoryInfo)})) break; sleep(60);",
        "when its time was over",
    ),
    "a connection that is closed in the middle": Attack(
        "say(2, {}, 20); shutdown(line, SHUT_WR); close(line);"
    ),
    "threads that all talk at once": Attack(
        "std::vector<std::thread> all; for (int i = 0; i < 8; ++i) all.emplace_back([] {"
        "for (int n = 0; n < 50; ++n) { void *d; cudaMalloc(&d, 8); cudaFree(d); } });"
        'for (auto &t : all) t.join(); std::printf("done\\n");',
        "",
        "done\n",
    ),
    "ten thousand allocations and more": Attack(
        "int n = 0; void *d; for (int i = 0; i < 11000; ++i) n += cudaMalloc(&d, 1) == cudaSuccess;"
        'std::printf("%d\\n", n);',
        "",
        "9999\n",
    ),
    "touch after touch": Attack(
        f"for (U i = 0; i < 3000; ++i) say({_number(Touched)},"
        "Bytes{}.add(i).add(std::uint32_t{0}).add(std::uint32_t{1}).add(i)); cudaDeviceSynchronize();"
    ),
    "streams without end": Attack(
        f"int n = 0; for (int i = 0; i < 11000; ++i) {{"
        f"say({_number(CreateStream)}, Bytes{{}}.add(std::uint32_t{{0}}));"
        'n += !hear(); } std::printf("%d\\n", n);',
        "",
        "10000\n",
    ),
}


def hostile_source() -> str:
    """All attacks in one program; its argument says which."""
    branches = "".join(
        f'if (!std::strcmp(words[1], "{name}")) {{ {attack.body} }}\n' for name, attack in ATTACKS.items()
    )
    return f"{_PRELUDE} int main(int, char **words) {{ find_line();\n{branches} return 0; }}"


@pytest.fixture(scope="module")
def hostile(own_tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with all attacks."""
    return compile_host(hostile_source(), tmp_path_factory.mktemp("hostile"), own_tools)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_device_comes_to_nothing(name: str, hostile: Path) -> None:
    """It is cut off with a reason, or refused as a device would; and the session ends in its time."""
    attack = ATTACKS[name]
    began = time.monotonic()
    ran = serve(hostile, name, seconds=1.5 if "its time" in attack.cut else SECONDS)
    assert time.monotonic() - began < SECONDS + 10
    assert attack.cut in ran.cut
    assert bool(attack.cut) is bool(ran.cut)
    assert ran.stdout == attack.printed


def test_false_accusations_of_oneself_are_bounded(hostile: Path) -> None:
    """A program that reports touch after touch fills no memory of the judge."""
    ran = serve(hostile, "touch after touch", seconds=SECONDS)
    assert len(ran.device.mistakes) <= MOST_MISTAKES
