/**
 * Random values of agents cloned from one template, drawn in the gateway's own process, which ran before the template was
 * saved. A Python process cannot be asked for values from outside. There the test checks that the process has the code that
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

type Values = Readonly<Record<string, string | number>>;
export interface Drawn {
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
  if (!subject.hasInspector) return { hostname, machineId, threads: {} };
  const program = '/dev/shm/inspect.mjs';
  const source = await readFile(new URL('clients/inspect.mjs', import.meta.url));
  await guest.writeFile(program, source, { mode: 0o644, owner: 'root' });
  const threads = JSON.parse(await run('/usr/local/bin/node', program, pid, String(count))) as Drawn['threads'];
  return { hostname, machineId, threads };
}

export function assertNothingInCommon(all: readonly Drawn[]): void {
  assert.equal(new Set(all.map(({ hostname }) => hostname)).size, all.length);
  assert.equal(new Set(all.map(({ machineId }) => machineId)).size, all.length);
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
