import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { agentIdPattern, makeAgentId } from './agent.ts';

test('every agent id is a DNS label of its shape, and none comes twice', () => {
  const ids = Array.from({ length: 2000 }, () => makeAgentId(randomInt));
  for (const id of ids) assert.match(id, agentIdPattern);
  assert.equal(new Set(ids).size, ids.length);
});
