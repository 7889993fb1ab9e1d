import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checker, checkedKeywords, plainKeywords } from './check.ts';
import { nearest } from './near.ts';
import { agentsSchema } from './wanted.ts';

const schema = await agentsSchema();

/** Returns the keywords of a schema; names of properties are none. */
function keywordsIn(value: unknown, isMap = false): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => keywordsIn(each));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(isMap ? [] : [key]),
    ...keywordsIn(inner, !isMap && ['properties', '$defs'].includes(key)),
  ]);
}

const findings = (value: unknown): string[] => {
  const checker = new Checker(schema);
  checker.check(schema, value, []);
  return checker.findings.map(({ path, message }) => `${path.join('.')} ${message}`);
};
const withAgent = (fields: object): unknown => ({ version: 1, agents: [{ name: 'ada', ...fields }] });

test('the check knows every keyword of the schema', () => {
  const known = new Set([...checkedKeywords, ...plainKeywords]);
  assert.deepEqual(
    [...new Set(keywordsIn(schema))].filter((keyword) => !known.has(keyword)),
    [],
  );
});

test('conditions of the API hold in files', () => {
  assert.deepEqual(findings(withAgent({ schedules: [{ name: 'a', prompt: 'b', every: '1d' }] })), []);
  const deliver = { to: 'channel' };
  const [missing] = findings(withAgent({ schedules: [{ name: 'a', prompt: 'b', every: '1d', deliver }] }));
  assert.match(missing!, /deliver needs channel/);
  const signature = { type: 'github', secret: { env: 'A' }, header: 'x' };
  assert.match(findings(withAgent({ hooks: [{ name: 'a', signature }] }))[0]!, /header must not be given here/);
  assert.match(findings(withAgent({ spend_limit: { action: 'block' } }))[0]!, /at least one of daily_usd, monthly_usd/);
  assert.match(
    findings(withAgent({ skills: [{ name: 'a', members: ['b', 'b'] }] }))[0]!,
    /members names something twice/,
  );
  assert.match(findings(withAgent({ instructions: { fil: 'a' } })).join(), /did you mean file\?/);
  assert.match(
    findings(withAgent({ llm_keys: { anthropic: { env: 'A', file: 'b' } } }))[0]!,
    /exactly one of env, file/,
  );
});

test('secrets are found in every place, with the bounds of the API', () => {
  const checker = new Checker(schema);
  const places = {
    llm_keys: { anthropic: { env: 'A' } },
    channels: { slack: { appToken: { env: 'A' }, botToken: { file: 'b' } } },
    connections: {
      a: { kind: 'mcp', url: 'https://a.example', headers: { Authorization: { env: 'A', prefix: 'B ' } } },
    },
    hooks: [{ name: 'a', signature: { type: 'stripe', secret: { stdin: true } } }],
  };
  checker.check(schema, withAgent(places), []);
  assert.deepEqual(checker.findings, []);
  assert.equal(checker.secrets.length, 5);
  for (const { bounds } of checker.secrets) assert.ok(bounds['maxLength'] !== undefined);
});

test('hostile names and deep values end soon', () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`field${at}`, at]));
  assert.ok(findings(withAgent(many)).length <= 50);
  assert.deepEqual(findings(withAgent({ __proto__: 1, constructor: 1 })).length, 1);
  assert.equal(nearest('x'.repeat(100_000), ['model']), undefined);
  assert.equal(nearest('modle', ['model', 'models']), 'model');
});
