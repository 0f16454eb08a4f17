# SPDX-License-Identifier: GPL-3.0-or-later
"""One thread of another process stands still."""

import contextlib
import ctypes
import os

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000


@contextlib.contextmanager
def stopped_thread(tid):
    """This one thread does not run meanwhile; SIGSTOP would stop the whole process."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    libc.ptrace.restype = ctypes.c_long
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        assert libc.ptrace(request, tid, None, None) == 0, os.strerror(ctypes.get_errno())
    assert libc.waitpid(tid, None, WALL) == tid
    try:
        yield
    finally:
        assert libc.ptrace(PTRACE_DETACH, tid, None, None) == 0
