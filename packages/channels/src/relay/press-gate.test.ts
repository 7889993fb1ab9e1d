import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PressGate } from './press-gate.ts';

test('a flood of presses of one person, or of many, is refused, and passes again after a while', () => {
  const gate = new PressGate();
  const passed = (sender: (at: number) => string, nowMs: number): number =>
    Array.from({ length: 1_000 }, (_, at) => gate.refuses(sender(at), nowMs)).filter((each) => each === null).length;
  assert.equal(
    passed(() => 'ann', 0),
    10,
  );
  assert.equal(
    passed((at) => `stranger ${at}`, 0),
    40,
  );
  assert.equal(
    passed(() => 'ann', 60_000),
    10,
  );
  assert.match(gate.refuses('ann', 60_000)!.say, /Wait a minute/);
});
