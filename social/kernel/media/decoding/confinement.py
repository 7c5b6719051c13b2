"""Confinement of a process that decodes a hostile file: limits of time and memory, and few system calls.

After `confine` the process can read, write and map what it has open already, use its threads and end. The process cannot open a
file, connect, or start a program or another process: such calls fail with EPERM (security row 1).
"""

import ctypes
import logging
import os
import platform
import resource
import signal
import struct
import sys
from dataclasses import dataclass
from typing import Final

logger = logging.getLogger(__name__)

_FILES: Final = 64


@dataclass(frozen=True)
class Limits:
    """Limits of a job: seconds of processor time (`cpu`), elapsed `seconds`, bytes of `memory`, and bytes of each `written`
    file.
    """

    cpu: int
    seconds: int
    memory: int
    written: int
    nice: int = 0


# Numbers of system calls: x86_64, and the table that aarch64 shares with every newer architecture.
_CALLS: Final[dict[str, tuple[int, int]]] = {
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "lseek": (8, 62),
    "close": (3, 57),
    "fstat": (5, 80),
    "newfstatat": (262, 79),  # C libraries use it for fstat; about other files it reveals only whether they exist
    "dup": (32, 23),
    "fcntl": (72, 25),
    "ftruncate": (77, 46),
    "fadvise64": (221, 223),
    "fsync": (74, 82),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "membarrier": (324, 283),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "tgkill": (234, 131),
    "restart_syscall": (219, 128),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "times": (100, 153),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "uname": (63, 160),
    "getcwd": (79, 17),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "getrandom": (318, 278),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
_CLONE: Final = (56, 220)
# The flags of `clone3` are in memory, which a filter cannot read; when the call does not exist (ENOSYS), libraries use `clone`.
_CLONE3: Final = 435
_AUDIT_ARCHITECTURES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_CLONE_THREAD: Final = 0x00010000
_X32_BIT: Final = 0x40000000
_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000
_EPERM, _ENOSYS = 1, 38
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER: Final = 2
# Codes of <linux/bpf_common.h>: load a word, jump if equal, jump if greater or equal, jump if any bit is set, return.
_LOAD, _EQUAL, _GREATER_OR_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def confine(limits: Limits) -> bool:
    """Confine this process until it ends; return whether system calls are filtered too (Linux on x86_64 and aarch64). The
    process is killed when its time is up. Call it in a process with a single thread, after all modules are imported.
    """
    os.nice(limits.nice)
    _die_with_parent()
    for what, most in (
        (resource.RLIMIT_CPU, limits.cpu),
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, limits.written),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    # Ignoring SIGXFSZ makes writing too large a file raise an error instead of ending the process. SIGALRM does end it.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, limits.seconds)
    return _filter_calls()


def _die_with_parent() -> None:
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def _instruction(code: int, jump_true: int, jump_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, jump_true, jump_false, value)


def _program(column: int, architecture: int) -> bytes:
    """Return a classic BPF program over `struct seccomp_data`: number (0), architecture (4), arguments from 16 on."""
    refuse, allow = _instruction(_RETURN, 0, 0, _REFUSE | _EPERM), _instruction(_RETURN, 0, 0, _ALLOW)
    program = [
        _instruction(_LOAD, 0, 0, 4),
        _instruction(_EQUAL, 1, 0, architecture),
        refuse,
        _instruction(_LOAD, 0, 0, 0),
        _instruction(_GREATER_OR_EQUAL, 0, 1, _X32_BIT),
        refuse,
        _instruction(_EQUAL, 0, 1, _CLONE3),
        _instruction(_RETURN, 0, 0, _REFUSE | _ENOSYS),
    ]
    for numbers in _CALLS.values():
        program += [_instruction(_EQUAL, 0, 1, numbers[column]), allow]
    # Allow `clone` for threads only, not for processes.
    program += [
        _instruction(_EQUAL, 1, 0, _CLONE[column]),
        refuse,
        _instruction(_LOAD, 0, 0, 16),
        _instruction(_ANY_BIT, 0, 1, _CLONE_THREAD),
        allow,
        refuse,
    ]
    return b"".join(program)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def _filter_calls() -> bool:
    known = _AUDIT_ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or known is None:
        return False
    code = ctypes.create_string_buffer(_program(*known))
    program = _Program((len(code) - 1) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    # Other processes of the same user, which a hostile file may have taken over, must not inspect this process.
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)
