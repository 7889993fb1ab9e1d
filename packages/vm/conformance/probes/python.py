"""Runs in a guest from before its memory is saved, as a runtime does: draws all the while, and much when it is told to (SIGUSR2)."""

import json
import os
import random
import signal
import ssl
import sys
import time
import uuid

folder, count = sys.argv[1], int(sys.argv[2])
# The first and the last of a generation.
kept, asked = 50, []
previous, current, values = [], "", []
own_generator = random.Random()


def draw():
    return {
        "pythonRandom": random.random(),
        "pythonInstance": own_generator.getrandbits(52),
        "uuid4": str(uuid.uuid4()),
        "randBytes": ssl.RAND_bytes(16).hex(),
    }


def generation():
    try:
        with open("/run/lodge/generation") as file:
            return file.read()
    except FileNotFoundError:
        return ""


signal.signal(signal.SIGUSR2, lambda *_: asked.append(True))
with open(f"{folder}/pid", "w") as file:
    file.write(str(os.getpid()))
while True:
    now = generation()
    if now != current:
        previous, current, values = values, now, []
    drawn = draw()
    # Otherwise the machine was saved in the midst of it: some of them are of the earlier generation.
    if generation() == now:
        values.append(drawn)
    del values[kept:-kept]
    if asked:
        asked.clear()
        told = {
            "before": previous,
            "after": values,
            "many": [draw() for _ in range(count)],
            "key": ssl.RAND_bytes(32).hex(),
        }
        with open(f"{folder}/new", "w") as file:
            json.dump({"main": told}, file)
        os.rename(f"{folder}/new", f"{folder}/values")
    time.sleep(0.02)
