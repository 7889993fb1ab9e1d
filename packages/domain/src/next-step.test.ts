import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextStep, recentCrashes } from './next-step.ts';
import type { AgentFacts } from './next-step.ts';

const now = new Date('2026-01-01T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const agent = (facts: Partial<AgentFacts>): AgentFacts => ({
  desired: 'running',
  status: 'running',
  executionId: 'one',
  acknowledged: true,
  crashes: [],
  ...facts,
});

test('a deleted agent is removed whatever its status and VM', () => {
  for (const status of ['provisioning', 'running', 'error'] as const) {
    assert.deepEqual(nextStep(agent({ desired: 'deleted', status }), { state: 'running', executionId: 'one' }, now), {
      do: 'delete',
    });
  }
});

test('an agent that was never reported running is cloned afresh', () => {
  assert.equal(nextStep(agent({ status: 'provisioning', acknowledged: false }), null, now).do, 'clone');
  const partial = { state: 'partial', executionId: 'one' } as const;
  assert.equal(nextStep(agent({ status: 'provisioning', acknowledged: false }), partial, now).do, 'clone');
});

test('an acknowledged agent never gets a fresh disk', () => {
  const vms = [
    null,
    ...(['running', 'dead', 'partial', 'disk-only'] as const).map((state) => ({ state, executionId: 'other' })),
  ];
  for (const status of ['provisioning', 'running', 'error'] as const) {
    for (const vm of vms) assert.notEqual(nextStep(agent({ status }), vm, now).do, 'clone');
  }
});

test('a running agent whose VM lives is left alone', () => {
  assert.deepEqual(nextStep(agent({}), { state: 'running', executionId: 'one' }, now), { do: 'nothing' });
});

test('a VM of another incarnation does not count as the agent running', () => {
  assert.deepEqual(nextStep(agent({}), { state: 'running', executionId: 'older' }, now), { do: 'boot', crashed: true });
});

test('the first crash boots the disk, a second within ten minutes gives up', () => {
  const dead = { state: 'dead', executionId: 'one' } as const;
  assert.deepEqual(nextStep(agent({}), dead, now), { do: 'boot', crashed: true });
  assert.deepEqual(nextStep(agent({ crashes: [minutesAgo(11)] }), dead, now), { do: 'boot', crashed: true });
  const second = nextStep(agent({ crashes: [minutesAgo(9)] }), dead, now);
  assert.equal(second.do, 'fail');
});

test('an agent in error stays as it is until it is asked for', () => {
  assert.deepEqual(nextStep(agent({ status: 'error' }), { state: 'disk-only', executionId: 'one' }, now), {
    do: 'nothing',
  });
});

test('only crashes within the window count', () => {
  assert.deepEqual(recentCrashes([minutesAgo(1), minutesAgo(30), minutesAgo(5)], now), [minutesAgo(5), minutesAgo(1)]);
});
