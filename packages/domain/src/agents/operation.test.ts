/**
 * Admission is the contract's lifecycle table. Each of its cells is tested here. While an operation is in progress no other
 * begins.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentStatuses } from './agent.ts';
import type { AgentStatus } from './agent.ts';
import { admit, admitSave, operationCauses, operationKinds, verbs } from './operation.ts';
import type { Admission, OperationKind, Verb } from './operation.ts';

type Cell = 'begin' | 'nothing' | 'agent_transitioning' | 'agent_not_running' | 'agent_not_resumable';

/** The contract's columns: running, paused, stopped, provisioning, error. */
const contract: Record<Verb, readonly [Cell, Cell, Cell, Cell, Cell]> = {
  start: ['nothing', 'begin', 'begin', 'agent_transitioning', 'begin'],
  resume: ['nothing', 'begin', 'begin', 'agent_transitioning', 'agent_not_resumable'],
  pause: ['begin', 'nothing', 'agent_not_running', 'agent_transitioning', 'agent_not_running'],
  stop: ['begin', 'begin', 'nothing', 'agent_transitioning', 'begin'],
  restart: ['begin', 'begin', 'agent_not_running', 'agent_transitioning', 'begin'],
  upgrade: ['begin', 'begin', 'agent_not_running', 'agent_transitioning', 'agent_not_running'],
};
const columns: readonly AgentStatus[] = ['running', 'paused', 'stopped', 'provisioning', 'error'];

function cell(admission: Admission): Cell | 'join' {
  return admission.do === 'refuse' ? admission.code : admission.do;
}

for (const verb of verbs) {
  for (const [index, status] of columns.entries()) {
    test(`${verb} of an agent that is ${status}: ${contract[verb][index]}`, () => {
      const admission = admit(verb, { status, operation: null });
      assert.equal(cell(admission), contract[verb][index]);
      if (admission.do === 'begin') assert.equal(admission.kind, verb);
    });
  }
}

test('an agent on the newest template has nothing to upgrade to, asleep or awake', () => {
  for (const status of agentStatuses) {
    const expected = status === 'provisioning' ? 'agent_transitioning' : 'nothing';
    assert.equal(cell(admit('upgrade', { status, operation: null, isNewest: true })), expected, status);
  }
});

test('while an operation is under way, the same goal is joined and any other refused, whatever the status', () => {
  const goal = (verb: OperationKind) => (verb === 'resume' ? 'start' : verb);
  for (const status of agentStatuses) {
    for (const underWay of operationKinds) {
      for (const cause of operationCauses) {
        const operation = { kind: underWay, cause, startedAt: new Date(0) };
        for (const verb of verbs) {
          const expected = goal(verb) === goal(underWay) ? 'join' : 'agent_transitioning';
          assert.equal(cell(admit(verb, { status, operation })), expected, `${verb} during ${underWay}`);
        }
      }
    }
  }
});

test('a save begins while the agent runs or rests, without its memory also in error, and never beside another operation', () => {
  for (const status of agentStatuses) {
    for (const memory of [true, false]) {
      const refused = status === 'provisioning' ? 'agent_transitioning' : status === 'error' && memory;
      const expected = refused === true ? 'agent_not_running' : refused || 'begin';
      assert.equal(cell(admitSave({ status, operation: null }, memory)), expected, `${status} ${memory}`);
      for (const kind of operationKinds) {
        const operation = { kind, cause: 'request', startedAt: new Date(0) } as const;
        assert.equal(cell(admitSave({ status, operation }, memory)), 'agent_transitioning', `${status} during ${kind}`);
      }
    }
  }
});
