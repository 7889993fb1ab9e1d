import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { sendLongTexts } from './long-texts.ts';

test('long texts arrive whole, whatever they are of, and others come in between', async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  const texts = {
    stdout: '\u0001'.repeat(1024 * 1024),
    stderr: `"\\\n${'😀é'.repeat(100_000)}\ud83d`,
    empty: '',
  };
  let turns = 0;
  app.get('/', (_request, reply) => sendLongTexts(reply, { exit_code: 0 }, texts));
  const count = (): void => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const response = await app.inject('/');
  clearImmediate(immediate);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(response.json(), { exit_code: 0, ...texts });
  assert.ok(turns > 16, `${turns} turns`);
});
