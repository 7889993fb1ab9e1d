/** When a silent connection's histories are read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Silence } from './silence.ts';

test('a short silence is a glance, a long one a whole look, and what was heard puts both off', async () => {
  const silence = new Silence({ glanceAfterMs: 100, compareAfterMs: 450 });
  assert.equal(silence.everyMs, 25);
  assert.equal(silence.due(false), null);
  await sleep(120);
  assert.equal(silence.due(false), 'glance');
  assert.equal(silence.due(false), null);
  silence.heard();
  await sleep(60);
  assert.equal(silence.due(false), null);
  await sleep(60);
  assert.equal(silence.due(false), 'glance');
  await sleep(400);
  assert.equal(silence.due(false), 'silence');
});

test('what could not be read before is read at once, with everything', () => {
  const silence = new Silence({ glanceAfterMs: 60_000, compareAfterMs: 60_000 });
  assert.equal(silence.due(true), 'silence');
});
