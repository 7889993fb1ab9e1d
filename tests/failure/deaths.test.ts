/**
 * The ways for a machine to die, in a whole Lodge with real machines: each told to the agent's owner by a reason of its own, in
 * the log with the last lines of the console, in the event and in the record. The machine itself, with what only a host can do
 * to it, is in packages/vm/conformance/qemu-deaths.test.ts.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { emulators } from './holdings.ts';

const minuteMs = 60_000;
const words = 'these are its last words';
const head = 'Last lines of the console:';
let service: Service;

before(
  async () => {
    service = await Service.start({ entry: new URL('./lodge-with-bare-guests.ts', import.meta.url) });
    await service.awaitTemplate(10 * minuteMs);
  },
  { timeout: 12 * minuteMs },
);
after(() => service?.destroy());

interface Entry {
  readonly source: string;
  readonly message: string;
}

async function logOf(id: string): Promise<readonly Entry[]> {
  const { status, body } = await service.call('GET', `/agents/${id}/logs?limit=1000&direction=asc`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data as Entry[];
}

async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const deadline = Date.now() + 5 * minuteMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < deadline, `${what}: not within five minutes\n${service.output.slice(-4000)}`);
    await sleep(100);
  }
}

async function created(name: string): Promise<string> {
  const lifecycle = { idle_timeout_seconds: 0 };
  const { status, body } = await service.call('POST', '/agents', { name, size: 'small', lifecycle });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id as string;
}

/** Runs something that the guest may not survive. */
async function runs(id: string, script: string): Promise<void> {
  const guest = await guestClientOf(service.dataDir, id);
  const signal = AbortSignal.timeout(5 * minuteMs);
  guest.exec({ argv: ['sh', '-c', script], user: 'root', timeoutMs: 5 * minuteMs }, { signal }).catch(() => undefined);
}

const withSignal =
  (signal: NodeJS.Signals) =>
  async (id: string): Promise<void> => {
    process.kill((await emulators(service.dataDir)).get(id)!, signal);
  };
const inGuest =
  (script: string) =>
  (id: string): Promise<void> =>
    runs(id, script);

/** Binds the machine to little more memory than it has. */
async function tighten(id: string): Promise<void> {
  const trees = [
    ['/sys/fs/cgroup/memory', 'memory.usage_in_bytes', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.current', 'memory.max'],
  ] as const;
  for (const [root, used, max] of trees) {
    const group = join(root, `lodge-${service.instance}`, id);
    const bytes = await readFile(join(group, used), 'utf8').catch(() => null);
    if (bytes === null) continue;
    await writeFile(join(group, max), String(Number(bytes) + (50 << 20)));
    return runs(id, 'head -c 400M /dev/urandom > /dev/shm/much');
  }
  assert.fail('this host has no memory controller');
}

type Way = readonly [
  what: string,
  code: string,
  sentence: RegExp,
  line: string | RegExp,
  die: (id: string) => Promise<void>,
];

const ways: readonly Way[] = [
  [
    'a panic',
    'guest_panic',
    /The kernel of the guest panicked\. \(sysrq triggered crash\)$/,
    /Kernel panic/,
    inGuest('echo c > /proc/sysrq-trigger'),
  ],
  [
    'no memory in the guest',
    'guest_out_of_memory',
    /The kernel of the guest ran out of memory and panicked\. \(Out of memory.*\)$/,
    /Kernel panic/,
    inGuest('echo 1 > /proc/sys/vm/panic_on_oom; perl -e \'push @x, "x" x 1e7 while 1\''),
  ],
  [
    'a reset from within',
    'guest_reset',
    /The guest restarted its machine from within\.$/,
    /sysrq: Resetting/,
    inGuest('echo b > /proc/sysrq-trigger'),
  ],
  [
    'being switched off from within',
    'guest_power_off',
    /The guest switched its machine off\.$/,
    /Power (?:Off|down)/,
    inGuest('echo o > /proc/sysrq-trigger'),
  ],
  ['SIGKILL', 'killed', /Somebody on the host ended the emulator\. \(SIGKILL\)$/, words, withSignal('SIGKILL')],
  ['SIGTERM', 'killed', /Somebody on the host ended the emulator\. \(by a signal\)$/, words, withSignal('SIGTERM')],
  ['a crash of QEMU', 'emulator_crashed', /The emulator crashed\. \(SIGSEGV\)$/, words, withSignal('SIGSEGV')],
  ['a forbidden system call', 'emulator_forbidden', /may not make.*\(SIGSYS\)$/, words, withSignal('SIGSYS')],
  ['a disk file beyond its bound', 'disk_bound', /beyond its bound.*\(SIGXFSZ\)$/, words, withSignal('SIGXFSZ')],
  ['no memory for it on the host', 'host_out_of_memory', /ended the emulator for lack of memory\.$/, words, tighten],
];

for (const [what, code, sentence, line, die] of ways) {
  test(`${what} is told to the agent’s owner as ${code}`, { timeout: 10 * minuteMs }, async () => {
    const id = await created(what);
    await runs(id, `echo "${words}" > /dev/console`);
    await until('its console was read', async () => (await logOf(id)).some(({ message }) => message === words));
    await die(id);
    const told = await until('its end is told', async () => {
      const log = await logOf(id);
      return log.some(({ message }) => message.startsWith('The VM ended unexpectedly')) && log;
    });
    const at = told.findIndex(({ message }) => message === head);
    const end = told.findIndex(({ message }) => message.startsWith('The VM ended unexpectedly'));
    assert.ok(at >= 0 && at < end, JSON.stringify(told));
    const console = told.slice(at + 1, end).filter(({ source }) => source === 'console');
    const says = ({ message }: Entry): boolean => (typeof line === 'string' ? message === line : line.test(message));
    assert.ok(console.some(says), JSON.stringify(console));
    assert.match(told[end]!.message, sentence);
    const events = await service.call('GET', `/events?agent_id=${id}&type=agent.crashed`);
    assert.equal(events.body.data[0].data.code, code);
    assert.match(events.body.data[0].data.message, sentence);
    const { status } = await service.call('DELETE', `/agents/${id}`);
    assert.ok(status < 300, String(status));
  });
}

test('an emulator that does not start is told with its last words, in the record of an agent in error', async () => {
  const id = await created('a broken disk');
  const stopped = await service.call('POST', `/agents/${id}/stop`);
  assert.equal(stopped.status, 200, JSON.stringify(stopped.body));
  const folder = join(service.dataDir, 'vms', id);
  await writeFile(join(folder, 'disk.qcow2'), 'no disk at all'.repeat(100));
  await service.call('POST', `/agents/${id}/start?wait=false`);
  const record = await until('it is in error', async () => {
    const { body } = await service.call('GET', `/agents/${id}`);
    return body.status === 'error' && body;
  });
  assert.match(record.status_reason.message, /The emulator ended with an error\. \(exit code 1: .*qcow2 format\)$/);
  assert.doesNotMatch(record.status_reason.message, /\//);
});

test('a machine that dies twice is in error, and its record says of what', { timeout: 10 * minuteMs }, async () => {
  const id = await created('twice');
  for (const expected of ['running', 'error']) {
    const pid = await until('it runs', async () => {
      const { body } = await service.call('GET', `/agents/${id}`);
      return body.status === 'running' && (await emulators(service.dataDir)).get(id);
    });
    process.kill(pid, 'SIGSEGV');
    await until(`it is ${expected}`, async () => {
      const { body } = await service.call('GET', `/agents/${id}`);
      return body.status === expected && (await emulators(service.dataDir)).get(id) !== pid;
    });
  }
  const { body } = await service.call('GET', `/agents/${id}`);
  assert.equal(body.status_reason.code, 'vm_crashed');
  assert.match(body.status_reason.message, /ended twice within 10 minutes\. The emulator crashed\. \(SIGSEGV\)$/);
  assert.equal((await emulators(service.dataDir)).get(id), undefined, 'nothing of it is left');
});

test('a guest that ends while no control plane runs is told by the next one', { timeout: 10 * minuteMs }, async () => {
  const id = await created('alone');
  await runs(id, 'sleep 3; echo c > /proc/sysrq-trigger');
  await sleep(500);
  await service.end('SIGKILL');
  await sleep(8000);
  assert.ok((await emulators(service.dataDir)).has(id), 'its QEMU stands still');
  await service.up();
  const log = await until('its end is told', async () => {
    const entries = await logOf(id);
    return entries.some(({ message }) => message.startsWith('The VM ended unexpectedly')) && entries;
  });
  assert.ok(log.some(({ message }) => message.endsWith('The kernel of the guest panicked. (sysrq triggered crash)')));
  assert.ok(log.some(({ source, message }) => source === 'console' && /Kernel panic/.test(message)));
});
