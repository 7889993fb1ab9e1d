/**
 * Whether guests that went on from the same memory draw the same random values. Processes that ran before it was saved draw
 * all the time and note the generation that they see. Values of an earlier generation are equal in all guests, to the last
 * one, because nothing ran between the copy and the new generation. No later value may be in two guests.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { guestClient } from '@lodge/guest';
import type { Guest } from '@lodge/guest';
import { formOf } from '@lodge/testkit/forms';

const folder = '/dev/shm/random';
/** Values of each kind. */
const count = formOf({ short: 200, long: 1000 });
const python = new URL('../../../images/hermes/files/opt/hermes/lib/python3.11/site-packages/', import.meta.url);

type Values = Readonly<Record<string, string | number>>;
interface Drawn {
  readonly before: readonly Values[];
  readonly after: readonly Values[];
  readonly many: readonly Values[];
  readonly key: string;
}
export interface Sample {
  readonly threads: Readonly<Record<string, Drawn>>;
  readonly kernel: readonly string[];
  readonly generation: string;
  readonly hostname: string;
  readonly machineId: string;
}

/** Starts the probes, which run in the guest when it resolves, on the same interpreters as the images' runtimes. */
export async function startProbes(at: Guest): Promise<void> {
  const write = async (name: string, source: URL): Promise<void> =>
    guestClient(at).writeFile(`${folder}/${name}`, readFileSync(source), { mode: 0o644, owner: 'root' });
  await write('node/probe.cjs', new URL('probes/node.cjs', import.meta.url));
  await write('python/probe.py', new URL('probes/python.py', import.meta.url));
  await write('python/sitecustomize.py', new URL('lodge_random.py', python));
  const start = (name: string, variable: string, command: string): string =>
    `chown agent ${name} && cd ${name} && su agent -c '${variable} setsid -f ${command} ${folder}/${name} ${count} >log 2>&1 </dev/null'` +
    ` && until [ -s pid ]; do sleep 0.1; done; cd ..;`;
  await shell(
    at,
    `cd ${folder}; ${start('node', 'NODE_OPTIONS="--require /opt/lodge/random.cjs"', '/usr/local/bin/node probe.cjs')}` +
      `${start('python', `PYTHONPATH=${folder}/python`, 'python3 probe.py')} sleep 1`,
  );
}

/** Returns a guest's values. Its probes have gone on meanwhile. */
export async function draw(at: Guest): Promise<Sample> {
  const ask = `cd ${folder}; for pid in */pid; do rm -f "\${pid%pid}values"; kill -USR2 "$(cat "$pid")"; done;
    for pid in */pid; do until [ -e "\${pid%pid}values" ]; do sleep 0.05; done; cat "\${pid%pid}values"; echo; done`;
  const uuids = `perl -e 'for (1..${count}) { open my $f, "<", "/proc/sys/kernel/random/uuid"; print <$f> }'`;
  const probes = (await shell(at, ask)).trim().split('\n');
  const threads = probes.flatMap((line, index) =>
    Object.entries(JSON.parse(line) as Record<string, Drawn>).map(
      ([name, drawn]) => [`${name} ${index}`, drawn] as const,
    ),
  );
  const names = await shell(at, 'cat /run/lodge/generation; uname -n; cat /etc/machine-id');
  const [generation = '', hostname = '', machineId = ''] = names.split('\n');
  const kernel = (await shell(at, uuids)).trim().split('\n');
  return { threads: Object.fromEntries(threads), kernel, generation, hostname, machineId };
}

/** Each group went on from one memory. */
export function assertNothingInCommon(...groups: (readonly Sample[])[]): void {
  const seen = new Map<string, number>();
  const once = (value: string | number, sample: number, what: string): void => {
    const other = seen.get(String(value));
    assert.ok(other === undefined, `guests ${other} and ${sample} have ${what} ${value} in common`);
    seen.set(String(value), sample);
  };
  const samples = groups.flatMap((group) => group.map((sample) => ({ ...sample, first: group[0]! })));
  for (const [index, { threads, kernel, generation, first }] of samples.entries()) {
    once(generation, index, 'the generation');
    assert.equal(kernel.length, count);
    for (const value of kernel) once(value, index, "the kernel's");
    for (const [name, { before, after, many, key }] of Object.entries(threads)) {
      assert.ok(before.length > 0 && after.length > 0);
      assert.deepEqual(
        before,
        first.threads[name]!.before,
        `${name} of guest ${index} drew nothing before it was told`,
      );
      assert.equal(many.length, count);
      once(key, index, 'the key');
      for (const values of [...after, ...many])
        for (const [kind, value] of Object.entries(values)) once(value, index, `${name}'s ${kind}`);
    }
  }
}

async function shell(at: Guest, script: string): Promise<string> {
  const argv = ['sh', '-c', script];
  const options = { user: 'root', timeoutMs: 300_000, maxOutputBytes: 8 * 2 ** 20 } as const;
  const { exitCode, stdout, stderr } = await guestClient(at).exec({ argv, ...options });
  if (exitCode !== 0) throw new Error(`${script}: ${stderr}`);
  return stdout;
}
