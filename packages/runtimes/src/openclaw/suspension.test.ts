import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { RuntimeBusy } from '@lodge/ports';
import { openclawGuest } from './gateway.ts';
import { createOpenclawRuntime } from './runtime.ts';
import { ok, startStubGuest, type StubGuest } from './testing/stub-guest.ts';
import { suspend } from './suspension.ts';

const runtime = createOpenclawRuntime();
const token = 'abcdef0123456789'.repeat(4);
const facts = { token, suspensionId: 's-1' };
const never = new AbortController().signal;
let guest: StubGuest;

beforeEach(async () => {
  guest = await startStubGuest();
});
afterEach(() => guest.close());

const draining = (suspensionId: string, ...kinds: string[]) =>
  ok({ status: 'draining', suspensionId, blockers: kinds.map((kind) => ({ kind, count: 1 })) });
const answers = (...list: ReturnType<typeof ok>[]): void => {
  guest.gateway.rpc['gateway.suspend.prepare'] = list;
};

test('a stop waits for the turn in hand, then writes the disk out and drops the page cache', async () => {
  answers(draining('s-2', 'embedded-run', 'root-request'), ok({ status: 'ready', suspensionId: 's-2', blockers: [] }));
  assert.deepEqual(await runtime.quiesce(guest, facts, never), { token, suspensionId: 's-2' });
  assert.deepEqual(guest.events, ['rpc gateway.suspend.prepare', 'rpc gateway.suspend.prepare', 'sync true']);
});

test('work that does not end in time is named, and the gateway is open again', async () => {
  answers(draining('s-2', 'embedded-run'));
  await assert.rejects(suspend(openclawGuest(guest, token), 300, never), (error: Error) => {
    assert.ok(error instanceof RuntimeBusy);
    assert.match(error.message, /embedded-run/);
    return true;
  });
  assert.deepEqual(guest.events.slice(-2), ['rpc gateway.suspend.resume', 'released s-2']);
});

test('a gateway that does not answer is not called busy', async () => {
  guest.gateway.rpc['gateway.suspend.prepare'] = [{ status: 503, body: { ok: false, error: { code: 'UNAVAILABLE' } } }];
  const suspending = suspend(openclawGuest(guest, token), 300, never);
  await assert.rejects(
    suspending,
    (error: Error) => !(error instanceof RuntimeBusy) && /did not suspend/.test(error.message),
  );
});

test('a command that the agent left running does not hold up a stop: it is frozen with the rest', async () => {
  answers(draining('s-2', 'background-exec', 'background-exec'));
  assert.deepEqual(await runtime.quiesce(guest, facts, never), { token, suspensionId: 's-2' });
  answers(draining('s-3', 'background-exec', 'task'));
  await assert.rejects(suspend(openclawGuest(guest, token), 300, never), RuntimeBusy);
});

test('OpenClaw’s own upkeep does not hold up a stop, and a template waits for its end', async () => {
  const upkeep = (made: string) => ({
    kind: 'root-request',
    count: 1,
    message: `1 active gateway request(s): ${made}`,
  });
  const busyWith = (...blockers: object[]) => ok({ status: 'draining', suspensionId: 's-2', blockers });
  answers(busyWith(upkeep('idle-task'), { kind: 'background-exec', count: 1 }));
  assert.deepEqual(await runtime.quiesce(guest, facts, never), { token, suspensionId: 's-2' });
  const both = [upkeep('idle-task, chat.send'), upkeep('chat.send: idle-task'), upkeep('idle-task-2')];
  for (const other of both) {
    answers(busyWith(other));
    await assert.rejects(suspend(openclawGuest(guest, token), 1_000, never), RuntimeBusy);
  }
  guest.events.length = 0;
  answers(busyWith(upkeep('idle-task (2)')), ok({ status: 'ready', suspensionId: 's-2', blockers: [] }));
  await suspend(openclawGuest(guest, token), 5_000, never, { awaitUpkeep: true });
  assert.deepEqual(guest.events, ['rpc gateway.suspend.prepare', 'rpc gateway.suspend.prepare']);
});

test('a stop that is called off, or whose disk is not written, leaves the gateway open', async () => {
  answers(draining('s-2', 'embedded-run'));
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('called off')), 100);
  await assert.rejects(runtime.quiesce(guest, facts, stop.signal), /called off/);
  assert.equal(guest.events.at(-1), 'released s-2');
  answers(ok({ status: 'ready', suspensionId: 's-3' }));
  guest.broken.add('/v1/sync');
  await assert.rejects(runtime.quiesce(guest, facts, never), /broken/);
  assert.equal(guest.events.at(-1), 'released s-3');
});

test('before a restart the runtime is ended and the disk written; a guest that cannot is not waited for', async () => {
  await runtime.shutdown(guest, facts, never);
  assert.deepEqual(guest.events.splice(0), ['end 10000', 'sync false']);
  guest.broken.add('/v1/runtime');
  await runtime.shutdown(guest, facts, never);
  assert.deepEqual(guest.events, ['sync false']);
  await guest.close();
  await runtime.shutdown(guest, facts, never);
  await assert.rejects(runtime.flush(guest, never));
});
