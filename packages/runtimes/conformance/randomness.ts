/**
 * Random values of agents cloned from one template, or forked from one agent, drawn in the gateway's own process, which ran
 * before that was saved, by a new Python process, and by the kernel. A Python process of before cannot be asked for values from outside. There the test checks that the process has the code that
 * renews its generators, and packages/vm/conformance/randomness.ts shows that this code works.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { formOf } from '@lodge/testkit/forms';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';

/** Number of values of each kind, on each thread. */
const count = formOf({ short: 200, long: 1000 });
/** Agents beside the one that the suite has anyway. */
export const furtherAgents = formOf({ short: 1, long: 19 });
/** Forks of it that run side by side, one group after another: from three on they share the memory of one file. */
export const forkGroups: readonly number[] = formOf({ short: [2], long: [1, 3, 4, 4, 4, 4] });

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
}

export async function draw(subject: Subject, agent: Tested): Promise<Drawn> {
  const guest = await agent.guest();
  const run = async (...argv: string[]): Promise<string> => {
    const request = { argv, user: 'root', timeoutMs: 300_000, maxOutputBytes: 8 * 2 ** 20 } as const;
    const { exitCode, stdout, stderr } = await guest.exec(request);
    assert.equal(exitCode, 0, stderr);
    return stdout.trim();
  };
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
  const drawn = { agentId: agent.id, hostname, machineId };
  const python = JSON.parse(await run('python3', '-c', inPython, String(count))) as readonly Values[];
  if (!subject.hasInspector) return { ...drawn, threads: { python } };
  const program = '/dev/shm/inspect.mjs';
  const source = await readFile(new URL('clients/inspect.mjs', import.meta.url));
  await guest.writeFile(program, source, { mode: 0o644, owner: 'root' });
  const threads = JSON.parse(await run('/usr/local/bin/node', program, pid, String(count))) as Drawn['threads'];
  return { ...drawn, threads: { ...threads, python } };
}

export function assertNothingInCommon(all: readonly Drawn[]): void {
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
}
