import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leftUsd } from '../spend.ts';
import { readArguments, schemaOf } from './fields.ts';
import { chainTrouble, mayAsk } from './peers.ts';
import { ownTools, scheduleToolWords } from './tools.ts';

test('a question is passed on twice at most, and to nobody who waits in its chain', () => {
  assert.equal(chainTrouble({ askers: ['a'], depth: 1 }, 'b'), null);
  assert.equal(chainTrouble({ askers: ['a', 'b'], depth: 2 }, 'c'), null);
  assert.match(chainTrouble({ askers: ['a', 'b', 'c'], depth: 3 }, 'd')!, /2 agents at most/);
  assert.match(chainTrouble({ askers: ['a', 'b'], depth: 2 }, 'a')!, /cannot be asked again/);
  // Several possible askers do not make the chain longer.
  assert.equal(chainTrouble({ askers: ['a', 'b', 'c', 'd'], depth: 2 }, 'e'), null);
});

test('peers are those that are named, or all', () => {
  assert.deepEqual(
    [mayAsk([], 'a'), mayAsk(['b'], 'a'), mayAsk(['b', 'a'], 'a'), mayAsk(['*'], 'a')],
    [false, false, true, true],
  );
});

test('what is shown of a tool is what is checked', () => {
  for (const { fields } of [...Object.values(ownTools), ...Object.values(scheduleToolWords)]) {
    const schema = schemaOf(fields) as { properties: object; required: readonly string[]; additionalProperties: false };
    assert.deepEqual(Object.keys(schema.properties), Object.keys(fields));
    const [first] = schema.required;
    if (first === undefined) assert.deepEqual(Object.values(readArguments(fields, {})).filter(Boolean), []);
    else assert.throws(() => readArguments(fields, {}), { code: 'invalid_request', message: `${first} is missing.` });
  }
});

test('what is left of a limit is exact, and never less than nothing', () => {
  const left = (limitUsd: string, spentUsd: string) =>
    leftUsd({ scope: 'agent', period: 'day', action: 'block', inFlightUsd: '9', limitUsd, spentUsd });
  assert.deepEqual(
    [
      left('1', '0'),
      left('5', '0.1'),
      left('0.3', '0.1'),
      left('12.5', '0.000000000001'),
      left('1', '1'),
      left('1', '2'),
    ],
    ['1', '4.9', '0.2', '12.499999999999', '0', '0'],
  );
});
