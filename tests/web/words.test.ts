/** The pages' texts and links, in plain functions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../apps/web/src/api.ts';
import { formatRelative } from '../../apps/web/src/format.ts';
import { explain } from '../../apps/web/src/messages.ts';
import { recentOf } from '../../apps/web/src/pages/home/recent.ts';
import { deviceOf } from '../../apps/web/src/pages/security/device.ts';
import { safePath, signedOutPath } from '../../apps/web/src/paths.ts';

test('signing in leads to pages of ours only', () => {
  for (const elsewhere of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:alert(1)', '', 7]) {
    assert.equal(safePath(elsewhere), '/', String(elsewhere));
  }
  assert.equal(safePath('/security'), '/security');
  assert.deepEqual(signedOutPath('/'), {});
  assert.deepEqual(signedOutPath('/people'), { to: '/people' });
});

test('moments are told in the nearest unit', () => {
  const now = Date.UTC(2026, 5, 15, 12);
  const words = (seconds: number): string => formatRelative(new Date(now + seconds * 1000), now);
  assert.equal(words(-20), 'just now');
  assert.equal(words(-90 * 60), '1 hour ago');
  assert.equal(words(7 * 86_400 - 5), 'in 7 days');
  assert.equal(words(-86_400), 'yesterday');
  assert.equal(words(-400 * 86_400), 'last year');
});

test('a refusal is told in a sentence, and nothing internal is', () => {
  assert.equal(
    explain(new ApiError('x', { status: 401, code: 'invalid_credentials' })),
    'E-mail or password is wrong.',
  );
  assert.equal(
    explain(new ApiError('x', { status: 401, code: 'invalid_credentials' }), { invalid_credentials: 'No.' }),
    'No.',
  );
  assert.equal(
    explain(new ApiError('Too many.', { status: 429, code: 'rate_limit_exceeded', retryAfterSeconds: 300 })),
    'Too many. Try again in 5 minutes.',
  );
  assert.equal(explain(new ApiError('name is required', { status: 400, code: 'invalid_request' })), 'name is required');
  assert.equal(explain(new ApiError('It failed.', { status: 500, code: 'internal_error' })), 'It failed.');
  assert.match(
    explain(new ApiError('A gateway’s words', { status: 502, code: 'http_502' })),
    /^The server had a problem/,
  );
  assert.doesNotMatch(explain(new TypeError('undefined is not a function')), /undefined/);
});

test('a session is named by browser and system', () => {
  const windows =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
  assert.deepEqual(deviceOf(windows), { name: 'Chrome on Windows', mobile: false });
  assert.equal(deviceOf(`${windows} Edg/140.0`).name, 'Edge on Windows');
  const phone =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1';
  assert.deepEqual(deviceOf(phone), { name: 'Safari on iPhone', mobile: true });
  assert.equal(deviceOf(null).name, 'Unknown browser');
});

test('a thing that happened is told once: an arrival by its outcome, and repetitions with their number', () => {
  const event = (id: string, type: string, agentId: string | null, data: Record<string, unknown> = {}) => ({
    object: 'event' as const,
    id,
    type,
    agent_id: agentId,
    data,
    created_at: `2026-11-27T00:00:0${id}.000Z`,
  });
  const events = [
    event('9', 'message.answered', 'one', { channel: 'telegram' }),
    event('8', 'message.received', 'one', { channel: 'telegram' }),
    event('7', 'message.received', 'two', { channel: 'slack' }),
    event('6', 'agent.updated', 'one', { fields: ['name'] }),
    event('5', 'agent.updated', 'one', { fields: ['model'] }),
    event('4', 'api_key.created', null, { name: 'CI\u202etxt' }),
    event('3', 'agent.deleted', 'three'),
    event('2', 'something.newer', 'one'),
  ];
  assert.deepEqual(
    recentOf(events as unknown as Parameters<typeof recentOf>[0]).map(({ title, count }) => [title, count]),
    [
      ['A message on Telegram was answered', 1],
      ['A message came on Slack', 1],
      ['Settings changed', 2],
      ['API key “CI\uFFFDtxt” was made', 1],
      ['An agent was deleted', 1],
      ['something.newer', 1],
    ],
  );
});
