"""Waits in a guest from before its memory is saved, and draws random values when it is told to (SIGUSR1).

Where its interpreter does not renew the generators of random, it follows the generation as docs/guides/snapshots.md says.
"""

import json
import os
import random
import signal
import sys
import uuid

count, mark = int(sys.argv[1]), sys.argv[2]


def generation():
    with open("/run/lodge/generation") as file:
        return file.read()


def draw():
    return {"random": random.random(), "uuid4": str(uuid.uuid4()), "randBytes": random.randbytes(16).hex()}


# Its generator is at work before the copy.
draw()
seen = generation()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
with open("pid", "w") as file:
    file.write(str(os.getpid()))
while True:
    signal.sigwait({signal.SIGUSR1})
    if "lodge_random" not in sys.modules and generation() != seen:
        seen = generation()
        random.seed()
    told = {"waiting python": {"since": mark, "values": [draw() for _ in range(count)]}}
    with open("new", "w") as file:
        json.dump(told, file)
    os.rename("new", "values")
