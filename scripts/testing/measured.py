#!/usr/bin/python3 -IS
"""
measured.py ARGUMENT...: runs Lodge's Node with these arguments and passes on how it ended. Writes into the folder
TESTS_MEASURES one line: the processor seconds of that process and all its descendants, a tab, the last argument.

A machine's emulator outlives the process that started it and is nobody's child then. As their subreaper this process
inherits such descendants, so that the kernel adds up what they took as well.
"""

import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

node = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../node_modules/.bin/node')
kernel = ctypes.CDLL(None)
kernel.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
# The test run may be killed: then the file ends too.
kernel.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

child = os.fork()
if child == 0:
    kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.execv(node, [node, *sys.argv[1:]])
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda received, _: os.kill(child, received))


def seconds_of_children_left():
    """Returns the processor seconds of children that still run, which the kernel has not added up yet."""
    ticks = 0
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf('SC_CLK_TCK')


ended = status = None
while ended != child:
    ended, status = os.wait()
try:
    while os.waitpid(-1, os.WNOHANG)[0] != 0:
        pass
except ChildProcessError:
    pass
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = usage.ru_utime + usage.ru_stime + seconds_of_children_left()
with open(os.path.join(os.environ['TESTS_MEASURES'], str(os.getpid())), 'w', encoding='utf-8') as file:
    file.write(f'{seconds:.2f}\t{sys.argv[-1]}\n')
if os.WIFSIGNALED(status):
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
sys.exit(os.waitstatus_to_exitcode(status))
