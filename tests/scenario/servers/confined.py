#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a command with what a service unit takes from it, where no service manager is needed for that:

    confined.py UNIT COMMAND…

SystemCallFilter=, RestrictAddressFamilies=, RestrictNamespaces=, MemoryDenyWriteExecute=, NoNewPrivileges= and an empty
CapabilityBoundingSet=, as UNIT has them. Namespaces of mounts, users and processes, and the addresses of IPAddressAllow=
are the manager's business."""

import ctypes
import errno
import functools
import os
import socket
import subprocess
import sys

import units

LAST_CAP = "/proc/sys/kernel/cap_last_cap"
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_MDWE = 24, 38, 65
CLONE_NEW = 0x7E020000 | 0x80  # every namespace; 0x80 is that of time
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
EQUAL, MASKED = 4, 7  # SCMP_CMP_EQ, SCMP_CMP_MASKED_EQ


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


@functools.cache
def members(name):
    """The system calls of a set of systemd's."""
    if not name.startswith("@"):
        return {name}
    said = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter", name], capture_output=True, text=True, check=True)
    words = [line.strip() for line in said.stdout.splitlines()[1:]]
    return set().union(*(members(word) for word in words if word and word[0] != "#"))


def allowed(lines):
    """What SystemCallFilter= lines leave, later ones changing earlier ones. It begins with an allow list."""
    names = set()
    for line in lines:
        wanted = set().union(*(members(word) for word in line.lstrip("~").split()))
        names = names - wanted if line.startswith("~") else names | wanted
    return names | members("@default")


def load(names, families):
    """The rest fails with EPERM, and sockets of other families with EAFNOSUPPORT."""
    lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    filter_ = ctypes.c_void_p(lib.seccomp_init(ERRNO | errno.EPERM))

    def rule(name, *comparisons):
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            failed = lib.seccomp_rule_add_array(filter_, ALLOW, number, len(comparisons),
                                                (Comparison * max(len(comparisons), 1))(*comparisons))
            if failed:
                sys.exit(f"{name}: {os.strerror(-failed)}")

    for name in names - {"socket", "clone", "clone3", "unshare", "setns"}:
        rule(name)
    for family in families:
        rule("socket", Comparison(0, EQUAL, family, 0))
    rule("clone", Comparison(0, MASKED, CLONE_NEW & 0xFFFFFFFF, 0))
    # clone3 hides its flags in memory: the C library takes ENOSYS for an old kernel, and calls clone.
    number = lib.seccomp_syscall_resolve_name(b"clone3")
    lib.seccomp_rule_add_array(filter_, ERRNO | errno.ENOSYS, number, 0, None)
    if lib.seccomp_load(filter_) != 0:
        sys.exit("the filter cannot be loaded")


def drop_capabilities(libc):
    with open(LAST_CAP, encoding="ascii") as file:
        for number in range(int(file.read()) + 1):
            if libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
                sys.exit(f"capability {number}: {os.strerror(ctypes.get_errno())}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        service = units.parse_unit([file.read()])["Service"]
    libc = ctypes.CDLL(None, use_errno=True)
    assert service["CapabilityBoundingSet"] == [] and service["NoNewPrivileges"] == ["yes"]
    assert service["RestrictNamespaces"] == ["yes"] and service["MemoryDenyWriteExecute"] == ["yes"]
    families = [getattr(socket, word) for word in " ".join(service["RestrictAddressFamilies"]).split()]
    names = allowed(service["SystemCallFilter"])
    if os.geteuid() == 0:
        drop_capabilities(libc)
    for option, value in ((PR_SET_MDWE, 1), (PR_SET_NO_NEW_PRIVS, 1)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            sys.exit(f"prctl {option}: {os.strerror(ctypes.get_errno())}")
    load(names, families)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
