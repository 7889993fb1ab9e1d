/**
 * A machine that dies in a whole Lodge with real machines: its owner is told in the log with the last lines of the console, in
 * the event and in the record; it starts once more, and the second death within ten minutes leaves it in error. Each way to die
 * has its reason in packages/vm/conformance/qemu-deaths.test.ts.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
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
/** An agent whose machine dies, in one test after another. */
let mortal: string;

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

/** The entry that tells the end of the agent's machine, and the lines of the console right before it. */
async function toldEnd(id: string, sentence: RegExp): Promise<readonly string[]> {
  const log = await until('its end is told', async () => {
    const entries = await logOf(id);
    return entries.some(({ message }) => sentence.test(message)) && entries;
  });
  const end = log.findIndex(({ message }) => sentence.test(message));
  const at = log.findLastIndex(({ message }, index) => message === head && index < end);
  assert.ok(at >= 0, JSON.stringify(log));
  const lines = log.slice(at + 1, end).filter(({ source }) => source === 'console');
  return lines.map(({ message }) => message);
}

async function eventOf(id: string, type: string): Promise<{ readonly code: string; readonly message: string }> {
  const { body } = await service.call('GET', `/events?agent_id=${id}&type=${type}`);
  assert.equal(body.data.length, 1, JSON.stringify(body));
  return body.data[0].data;
}

async function record(id: string) {
  return (await service.call('GET', `/agents/${id}`)).body;
}

const machineOf = async (id: string): Promise<number | undefined> => (await emulators(service.dataDir)).get(id);

test(
  'a guest that panics is told to the agent’s owner, and the agent runs again',
  { timeout: 10 * minuteMs },
  async () => {
    mortal = await created('mortal');
    const pid = await machineOf(mortal);
    await runs(mortal, `echo "${words}" > /dev/console`);
    await until('its console was read', async () => (await logOf(mortal)).some(({ message }) => message === words));
    await runs(mortal, 'echo c > /proc/sysrq-trigger');
    const why = String.raw`The kernel of the guest panicked\. \(sysrq triggered crash\)$`;
    const console = await toldEnd(mortal, new RegExp(`^The VM ended unexpectedly.* ${why}`));
    assert.ok(console.includes(words), JSON.stringify(console));
    assert.ok(
      console.some((line) => line.includes('Kernel panic')),
      JSON.stringify(console),
    );
    const event = await eventOf(mortal, 'agent.crashed');
    assert.equal(event.code, 'guest_panic');
    assert.match(event.message, new RegExp(why));
    await until('it runs again', async () => {
      const now = await machineOf(mortal);
      return (await record(mortal)).status === 'running' && now !== undefined && now !== pid;
    });
  },
);

test(
  'an emulator that is killed next is told too, and the agent is in error for it',
  { timeout: 10 * minuteMs },
  async () => {
    await runs(mortal, `echo "${words}" > /dev/console`);
    const said = async (): Promise<number> => (await logOf(mortal)).findLastIndex(({ message }) => message === words);
    const restarted = (await logOf(mortal)).findLastIndex(({ message }) => message.startsWith('The VM ended'));
    await until('its console was read', async () => (await said()) > restarted);
    process.kill((await machineOf(mortal))!, 'SIGKILL');
    await until('it is in error', async () => (await record(mortal)).status === 'error');
    const why = /ended twice within 10 minutes\. Somebody on the host ended the emulator\. \(SIGKILL\)$/;
    const console = await toldEnd(mortal, why);
    assert.ok(console.includes(words), JSON.stringify(console));
    for (const { code, message } of [await eventOf(mortal, 'agent.error'), (await record(mortal)).status_reason]) {
      assert.equal(code, 'vm_crashed');
      assert.match(message, why);
    }
    assert.equal(await machineOf(mortal), undefined, 'nothing of it is left');
  },
);

test('an emulator that does not start is told with its last words, in the record of an agent in error', async () => {
  await writeFile(join(service.dataDir, 'vms', mortal, 'disk.qcow2'), 'no disk at all'.repeat(100));
  await service.call('POST', `/agents/${mortal}/start?wait=false`);
  const { status_reason: reason } = await until('it is in error for its disk', async () => {
    const found = await record(mortal);
    return found.status === 'error' && found.status_reason.code !== 'vm_crashed' && found;
  });
  assert.match(reason.message, /The emulator ended with an error\. \(exit code 1: .*qcow2 format\)$/);
  assert.doesNotMatch(reason.message, /\//);
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
