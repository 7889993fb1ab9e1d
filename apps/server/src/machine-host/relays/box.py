"""Puts a relay process into its box, and becomes it. Root runs this in new mount, process, IPC and host name namespaces.

The box is a file system of its own with the program, its libraries and what the network needs, read-only; another user
without privileges; no new processes; no sockets but those of the internet. Node can set none of this for itself, and Python's
own library can. One argument, JSON:

  root      an empty folder, which the box's file system is put over
  shown     files and folders of the host that the box has, at their own places; what is missing is left out
  uid, gid  whom the process runs as
  command   what it becomes, with its arguments
"""

import ctypes
import json
import os
import platform
import resource
import signal
import struct
import sys

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
SECCOMP_MODE_FILTER = 2
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
# Bound on the threads of the user, in all Lodges of the host. A relay has some 20; its control group bounds it closer.
MAX_THREADS = 1024

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *args):
    if getattr(libc, name)(*args) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def mount(source, target, kind, flags, data=None):
    as_bytes = [None if each is None else os.fsencode(each) for each in (source, target, kind, data)]
    call("mount", as_bytes[0], as_bytes[1], as_bytes[2], ctypes.c_ulong(flags), as_bytes[3])


def show(root, path, flags=MS_RDONLY | MS_NOSUID | MS_NODEV):
    """Has the box show a file or folder of the host, and what a link of it leads to."""
    if not os.path.lexists(path):
        return
    target = root + path
    if os.path.lexists(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        real = os.path.realpath(path)
        # A file is shown by its folder: a program that rewrites it replaces it.
        if not os.path.isdir(real):
            show(root, os.path.dirname(real))
        # Its folder may be there already, as /etc is, without it.
        show(root, real)
        return
    if os.path.isdir(path):
        os.makedirs(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(path, target, None, MS_BIND)
    mount(None, target, None, MS_REMOUNT | MS_BIND | flags)


def enter(root, shown):
    mount("box", root, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=1m")
    for path in shown:
        show(root, path)
    for path in DEVICES:
        show(root, path, MS_RDONLY | MS_NOSUID | MS_NOEXEC)
    os.makedirs(root + "/proc", exist_ok=True)
    mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    mount(None, root, None, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.chdir(root)
    call("pivot_root", b".", b".")
    call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def become(uid, gid):
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        call("prctl", PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    call("prctl", PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0)
    # As `unshare` set it: the kernel forgets it where a process becomes another user.
    call("prctl", PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_NPROC, (MAX_THREADS, MAX_THREADS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# Numbers of calls by kind of processor: x86_64, aarch64. None: the kernel of that one has no such call.
NUMBERS = {
    "socket": (41, 198),
    "clone": (56, 220),
    "clone3": (435, 435),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
REFUSED = {
    "fork": (57, None),
    "vfork": (58, None),
    "execveat": (322, 281),
    "socketpair": (53, 199),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "fanotify_init": (300, 262),
}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
AF_INET, AF_INET6 = 2, 10
CLONE_THREAD = 0x10000
# linux/filter.h, linux/seccomp.h
LOAD, EQUAL, AT_LEAST, BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
# struct seccomp_data: the number, the kind of processor, six arguments from byte 16 on, lower halves first.
NUMBER_AT, ARCH_AT, FIRST_ARGUMENT_AT = 0, 4, 16


def step(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def program(machine):
    """A filter for one kind of processor. Calls of another one, such as those of 32 bits, end the process."""
    kind = ("x86_64", "aarch64").index(machine)
    of = {name: numbers[kind] for name, numbers in NUMBERS.items()}
    steps = [
        step(LOAD, ARCH_AT),
        step(EQUAL, AUDIT_ARCH[machine], 1, 0),
        step(RETURN, KILL),
        step(LOAD, NUMBER_AT),
        # x32, which is no kind of its own.
        step(AT_LEAST, 0x40000000, 0, 1),
        step(RETURN, KILL),
    ]
    for numbers in REFUSED.values():
        if numbers[kind] is not None:
            steps += [step(EQUAL, numbers[kind], 0, 1), step(RETURN, ERROR | EPERM)]
    # The C library and libuv go on without these. The arguments of clone3 cannot be checked.
    for name in ("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"):
        steps += [step(EQUAL, of[name], 0, 1), step(RETURN, ERROR | ENOSYS)]
    steps += [
        # A thread, and no process.
        step(EQUAL, of["clone"], 0, 4),
        step(LOAD, FIRST_ARGUMENT_AT),
        step(BITS, CLONE_THREAD, 0, 1),
        step(RETURN, ALLOW),
        step(RETURN, ERROR | EPERM),
        step(EQUAL, of["socket"], 0, 5),
        step(LOAD, FIRST_ARGUMENT_AT),
        step(EQUAL, AF_INET, 2, 0),
        step(EQUAL, AF_INET6, 1, 0),
        step(RETURN, ERROR | EAFNOSUPPORT),
        step(RETURN, ALLOW),
        step(RETURN, ALLOW),
    ]
    return steps


def refuse_calls():
    steps = program(platform.machine())
    filters = ctypes.create_string_buffer(b"".join(steps))
    header = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(filters)))
    call("prctl", PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), header, 0, 0)


def main():
    box = json.loads(sys.argv[1])
    command = box["command"]
    # Folders that lead to what is shown are everybody's.
    os.umask(0o022)
    enter(box["root"], box["shown"])
    become(box["uid"], box["gid"])
    refuse_calls()
    os.execv(command[0], command)


main()
