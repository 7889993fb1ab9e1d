/**
 * Random values of agents cloned from one template, or forked from one agent, drawn in the gateway's own process, which ran
 * before that was saved, by a new Python process, and by the kernel. A Python gateway cannot be asked for values from outside.
 * There the test checks that the process has the code that renews its generators. The workers of OpenClaw's gateway have
 * run since before the template was saved. In the long form a Python program, too, lives in the parent before its forks are
 * made, and draws in each of them; programs of before a template are in packages/vm/conformance/randomness.ts.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { formOf } from '@lodge/testkit/forms';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';

/** Number of values of each kind, on each thread. */
const count = formOf({ short: 200, long: 1000 });
/** Agents beside the one that the suite has anyway. */
export const furtherAgents = formOf({ short: 1, long: 20 });
/** Forks of one call. From three on they share the memory of one file. */
export const forkCount = formOf({ short: 2, long: 20 });
/** Where a Python program waits. */
const waiting = '/dev/shm/waiting';

/** Draws as a program does that an agent starts, and reads the kernel's own. */
const inPython = `
import json, random, sys, uuid
def kernel():
    with open("/proc/sys/kernel/random/uuid") as file:
        return file.read().strip()
draw = lambda: {"random": random.random(), "uuid4": str(uuid.uuid4()), "kernel": kernel()}
print(json.dumps([draw() for _ in range(int(sys.argv[1]))]))`;

type Values = Readonly<Record<string, string | number>>;
export interface Drawn {
  readonly agentId: string;
  readonly hostname: string;
  readonly machineId: string;
  readonly threads: Readonly<Record<string, readonly Values[]>>;
  /** The agent in which a thread that lives on was first told to draw. */
  readonly since: Readonly<Record<string, string>>;
}

/** Starts the Python program, which runs when it resolves. */
export async function startWaiting({ client }: Subject, agent: Tested): Promise<void> {
  const guest = await agent.guest();
  const source = await readFile(new URL('clients/waiting.py', import.meta.url));
  await guest.writeFile(`${waiting}/waiting.py`, source, { mode: 0o644, owner: 'root' });
  const python = client.interpreter === 'node' ? 'python3' : client.interpreter;
  const start = `setsid -f ${python} waiting.py ${count} ${agent.id} >log 2>&1 </dev/null`;
  await runAsRoot(agent, 'sh', '-c', `cd ${waiting} && ${start} && until [ -s pid ]; do sleep 0.1; done`);
}

export async function draw(subject: Subject, agent: Tested): Promise<Drawn> {
  const run = (...argv: string[]): Promise<string> => runAsRoot(agent, ...argv);
  // The runtime's oldest process is its gateway, which started the others.
  const pid = await run(
    'sh',
    '-c',
    'grep -lz ^LODGE_RUNTIME= /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 | sort -n | head -n 1',
  );
  const maps = await run('cat', `/proc/${pid}/maps`);
  for (const part of ['/opt/lodge/kernel-random.so', '/run/lodge/generation-count'])
    assert.ok(maps.includes(part), part);
  const [hostname = '', machineId = ''] = (await run('sh', '-c', 'uname -n; cat /etc/machine-id')).split('\n');
  const python = JSON.parse(await run('python3', '-c', inPython, String(count))) as readonly Values[];
  const ask = `cd ${waiting} 2>/dev/null || exit 0; rm -f values; kill -USR1 "$(cat pid)" && until [ -e values ]; do sleep 0.1; done; cat values`;
  const told = { ...(await threadsOf(run('sh', '-c', ask))) };
  if (subject.hasInspector) {
    const program = '/dev/shm/inspect.mjs';
    const source = await readFile(new URL('clients/inspect.mjs', import.meta.url));
    await (await agent.guest()).writeFile(program, source, { mode: 0o644, owner: 'root' });
    Object.assign(told, await threadsOf(run('/usr/local/bin/node', program, pid, String(count), agent.id)));
    assert.ok(
      Object.keys(told).some((name) => name.startsWith('worker')),
      'it has workers',
    );
  }
  const threads = Object.entries(told);
  return {
    agentId: agent.id,
    hostname,
    machineId,
    threads: { ...Object.fromEntries(threads.map(([name, { values }]) => [name, values])), python },
    since: Object.fromEntries(threads.map(([name, { since }]) => [name, since])),
  };
}

interface Told {
  readonly since: string;
  readonly values: readonly Values[];
}

async function threadsOf(said: Promise<string>): Promise<Readonly<Record<string, Told>>> {
  return JSON.parse((await said) || '{}') as Readonly<Record<string, Told>>;
}

async function runAsRoot(agent: Tested, ...argv: string[]): Promise<string> {
  const request = { argv, user: 'root', timeoutMs: 300_000, maxOutputBytes: 8 * 2 ** 20 } as const;
  const { exitCode, stdout, stderr } = await (await agent.guest()).exec(request);
  assert.equal(exitCode, 0, stderr);
  return stdout.trim();
}

/** Returns the number of values. */
export function assertNothingInCommon(all: readonly Drawn[]): number {
  const differ = (field: 'agentId' | 'hostname' | 'machineId'): number => new Set(all.map((each) => each[field])).size;
  assert.deepEqual([differ('hostname'), differ('machineId')], [differ('agentId'), differ('agentId')]);
  const seen = new Set<string | number>();
  let drawn = 0;
  for (const { threads } of all) {
    for (const [name, many] of Object.entries(threads)) {
      assert.equal(many.length, count, name);
      for (const value of many.flatMap((values) => Object.values(values))) {
        seen.add(value);
        drawn += 1;
        assert.equal(seen.size, drawn, `${name} drew ${value}, which was drawn before`);
      }
    }
  }
  return drawn;
}
