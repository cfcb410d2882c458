"""The seccomp profile: what it allows, what it denies, and that the kernel does so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.toolchain.sandbox.in_container import PROFILE, built, client, container_output

if TYPE_CHECKING:
    from docker import DockerClient

    from grader.toolchain.sandbox.image import SandboxImage

__all__ = ["built", "client"]  # fixtures


def allowed() -> set[str]:
    """System calls that the profile allows, with or without conditions."""
    rules = (rule for rule in PROFILE["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW")
    return {name for rule in rules for name in rule["names"]}


def conditions(name: str) -> list[tuple[int, int, int, str]]:
    """Under which conditions a call is allowed: one of these must hold."""
    rules = [rule for rule in PROFILE["syscalls"] if name in rule["names"]]
    return [
        (each["index"], each["value"], each["valueTwo"], each["op"])
        for rule in rules
        for each in rule.get("args", [])
    ]


DENIED = (
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "mount",
    "umount2",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsmount",
    "mount_setattr",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "add_key",
    "request_key",
    "keyctl",
    "bpf",
    "perf_event_open",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "io_setup",
    "userfaultfd",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "open_by_handle_at",
    "name_to_handle_at",
    "vmsplice",
    "splice",
    "tee",
    "acct",
    "quotactl",
    "swapon",
    "swapoff",
    "reboot",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "syslog",
    "iopl",
    "ioperm",
    "modify_ldt",
    "seccomp",
    "move_pages",
    "migrate_pages",
    "lookup_dcookie",
    "inotify_init1",
    "fanotify_init",
    "shmget",
    "semget",
    "msgget",
    "mq_open",
    "memfd_secret",
    "setuid",
    "setgid",
    "setresuid",
    "capset",
    "chown",
    "fchownat",
    "setxattr",
    "sync",
    "syncfs",
    "vhangup",
    "uselib",
    "remap_file_pages",
)

NEEDED = (
    "read",
    "write",
    "openat",
    "mmap",
    "mprotect",
    "munmap",
    "mremap",
    "brk",
    "madvise",
    "futex",
    "execve",
    "exit_group",
    "wait4",
    "pipe2",
    "dup2",
    "fcntl",
    "poll",
    "ioctl",
    "get_mempolicy",
    "set_mempolicy",
    "mbind",
    "mlock",
    "sched_getaffinity",
    "memfd_create",
    "eventfd2",
    "prctl",
    "getrandom",
    "rseq",
    "set_robust_list",
    "clock_nanosleep",
    "rt_sigaction",
    "sigaltstack",
    "prlimit64",
    "getdents64",
    "statx",
    "flock",
    "ftruncate",
)


@pytest.mark.parametrize("name", DENIED)
def test_what_could_reach_out_is_denied(name: str) -> None:
    """The call is nowhere in the profile, and what is nowhere is denied."""
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"
    assert name not in allowed()


@pytest.mark.parametrize("name", NEEDED)
def test_what_compilers_programs_and_cuda_need_is_allowed(name: str) -> None:
    """The call is allowed, whatever its arguments."""
    assert name in allowed()
    assert conditions(name) == []


WITHOUT_IT_ON_AARCH64 = {
    "open": "openat",
    "access": "faccessat",
    "stat": "newfstatat",
    "readlink": "readlinkat",
    "getdents": "getdents64",
    "rename": "renameat",
    "link": "linkat",
    "unlink": "unlinkat",
    "symlink": "symlinkat",
    "mkdir": "mkdirat",
    "rmdir": "unlinkat",
    "chmod": "fchmodat",
    "utimes": "utimensat",
    "mknod": "mknodat",
    "dup2": "dup3",
    "pipe": "pipe2",
    "poll": "ppoll",
    "select": "pselect6",
    "epoll_wait": "epoll_pwait",
    "eventfd": "eventfd2",
    "fork": "clone",
    "getrlimit": "prlimit64",
}


@pytest.mark.parametrize(("older", "newer"), WITHOUT_IT_ON_AARCH64.items())
def test_what_a_newer_processor_has_no_older_call_for_is_allowed_by_its_newer_one(
    older: str, newer: str
) -> None:
    """The profile has names, of which the engine makes numbers; aarch64 never had the older calls."""
    assert older not in allowed() or newer in allowed()
    assert "SCMP_ARCH_AARCH64" in {each["architecture"] for each in PROFILE["archMap"]}


def test_calls_with_two_faces_are_allowed_for_one_of_them() -> None:
    """Threads but no namespaces, named pipes but no devices, sockets of two families, one personality."""
    new_namespaces = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
    assert conditions("clone") == [(0, new_namespaces, 0, "SCMP_CMP_MASKED_EQ")]
    assert conditions("mknod") == [(1, 0xF000, 0x1000, "SCMP_CMP_MASKED_EQ")]
    assert conditions("mknodat") == [(2, 0xF000, 0x1000, "SCMP_CMP_MASKED_EQ")]
    assert [each[1] for each in conditions("socket")] == [1, 2]
    assert [each[1] for each in conditions("personality")] == [0, 0xFFFFFFFF]


def test_clone3_is_answered_as_not_implemented() -> None:
    """Its flags cannot be seen; the C library falls back to the old one on ENOSYS, and on nothing else."""
    (rule,) = [rule for rule in PROFILE["syscalls"] if "clone3" in rule["names"]]
    assert (rule["action"], rule["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)


CALLS = r"""
import ctypes, errno, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(number, *map(ctypes.c_long, arguments))
    return errno.errorcode.get(ctypes.get_errno(), "fine")
def opens(family, kind):
    try:
        socket.socket(family, kind).close()
        return "fine"
    except OSError as problem:
        return errno.errorcode[problem.errno]
def makes(mode):
    try:
        os.mknod(f"/job/{mode}", mode)
        return "fine"
    except OSError as problem:
        return errno.errorcode[problem.errno]
numbers = {
    "ptrace": 101, "process_vm_readv": 310, "mount": 165, "setns": 308, "keyctl": 250, "bpf": 321,
    "perf": 298, "io_uring": 425, "userfaultfd": 323, "handle": 304, "clone3": 435,
}
answers = {name: call(number, 0, 0, 0, 0, 0, 0) for name, number in numbers.items()}
print(json.dumps(answers | {
    "unshare": call(272, 0x10000000),
    "clone_newuser": call(56, 0x10000011, 0, 0, 0, 0),
    "clone_newnet": call(56, 0x40000011, 0, 0, 0, 0),
    "personality": call(135, 0x0040000),
    "personality_asked": call(135, 0xFFFFFFFF),
    "unix": opens(socket.AF_UNIX, socket.SOCK_STREAM),
    "inet": opens(socket.AF_INET, socket.SOCK_STREAM),
    "netlink": opens(socket.AF_NETLINK, socket.SOCK_RAW),
    "packet": opens(socket.AF_PACKET, socket.SOCK_RAW),
    "vsock": opens(socket.AF_VSOCK, socket.SOCK_STREAM),
    "fifo": makes(0o10600),
    "device": makes(0o20600),
}))
"""


@pytest.mark.docker
def test_the_profile_denies_in_a_real_container(client: DockerClient, built: SandboxImage) -> None:
    """The kernel denies each call that the profile should deny, and allows the others."""
    answers = container_output(client, built, CALLS)
    fine = {name for name, answer in answers.items() if answer == "fine"}
    assert fine == {"personality_asked", "unix", "inet", "fifo"}
    assert answers.pop("clone3") == "ENOSYS"
    assert {answer for name, answer in answers.items() if name not in fine} == {"EPERM"}
