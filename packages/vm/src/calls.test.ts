import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { VmError } from '@lodge/ports';
import { AgentCalls } from './calls.ts';

test('calls for one agent are served one at a time and in order, those for others beside them', async () => {
  const calls = new AgentCalls();
  const log: string[] = [];
  const call = (agentId: string, name: string, ms: number) =>
    calls.run(agentId, {
      creates: null,
      work: async () => {
        log.push(`${name} begins`);
        await sleep(ms);
        log.push(`${name} ends`);
      },
    });
  await Promise.all([call('a', 'a1', 30), call('a', 'a2', 1), call('b', 'b1', 1)]);
  assert.deepEqual(log, ['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends']);
});

test('a call that fails does not stop the next one', async () => {
  const calls = new AgentCalls();
  const failing = calls.run('a', { creates: null, work: () => Promise.reject(new Error('told to fail')) });
  const next = calls.run('a', { creates: null, work: () => Promise.resolve('served') });
  await assert.rejects(failing, /told to fail/);
  assert.equal(await next, 'served');
});

test('creates are voided under way and before their turn, but not those of the execution that is wanted', async () => {
  const calls = new AgentCalls();
  const create = (executionId: string) =>
    calls.run('a', {
      creates: executionId,
      work: (signal) => sleep(50, executionId, { signal }).catch(() => Promise.reject(signal.reason as VmError)),
    });
  const outcomes = Promise.allSettled([create('e1'), create('e2'), create('e3')]);
  await sleep(5);
  calls.supersede('a', 'e2');
  const [one, two, three] = await outcomes;
  assert.equal(one.status === 'rejected' && (one.reason as VmError).code, 'superseded');
  assert.deepEqual(two, { status: 'fulfilled', value: 'e2' });
  assert.equal(three.status === 'rejected' && (three.reason as VmError).code, 'superseded');
});

test('a removal ends what yields, under way and before its turn, and nothing else', async () => {
  const calls = new AgentCalls();
  const call = (yields: boolean) =>
    calls.run('a', {
      creates: null,
      yields,
      work: (signal) => sleep(20, 'done', { signal }).catch(() => Promise.reject(signal.reason as VmError)),
    });
  const outcomes = Promise.allSettled([call(true), call(false), call(true)]);
  await sleep(5);
  calls.void('a', new VmError('aborted', 'removed'));
  assert.deepEqual(
    (await outcomes).map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as VmError).code,
    ),
    ['aborted', 'done', 'aborted'],
  );
});

test('an agent’s line has a bound', async () => {
  const calls = new AgentCalls();
  const gate = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 16 }, () => calls.run('a', { creates: null, work: () => gate.promise }));
  await assert.rejects(calls.run('a', { creates: null, work: () => Promise.resolve() }), /too many calls/);
  gate.resolve();
  await Promise.all(waiting);
  await calls.run('a', { creates: null, work: () => Promise.resolve() });
});
