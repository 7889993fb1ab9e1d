import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TooLargeError } from '../../shared/bounded.ts';
import { brokenFailure, failureOf, tokenFailure } from './google-failure.ts';

const error = (reason: string, message = 'x'): Uint8Array =>
  Buffer.from(JSON.stringify({ error: { code: 0, message, status: 'X', errors: [{ message, reason }] } }));
const none = new Headers();

describe('what Google answers', () => {
  const cases: readonly (readonly [number, string, string, string])[] = [
    [429, 'rateLimitExceeded', 'limited', 'rate_limited'],
    [403, 'rateLimitExceeded', 'limited', 'rate_limited'],
    [403, 'userRateLimitExceeded', 'limited', 'rate_limited'],
    [403, 'dailyLimitExceeded', 'limited', 'rate_limited'],
    [403, 'insufficientPermissions', 'fatal', 'missing_permission'],
    [403, 'accessNotConfigured', 'fatal', 'platform_refused'],
    [403, 'domainPolicy', 'fatal', 'restricted'],
    [400, 'failedPrecondition', 'fatal', 'restricted'],
    [401, 'authError', 'unauthorized', 'platform_unreachable'],
    [404, 'notFound', 'not_found', 'platform_refused'],
    [400, 'invalidArgument', 'refused', 'platform_refused'],
    [413, 'uploadTooLarge', 'refused', 'platform_refused'],
    [500, 'backendError', 'unavailable', 'platform_unreachable'],
    [503, 'backendError', 'unavailable', 'platform_unreachable'],
    [302, '', 'unavailable', 'platform_unreachable'],
  ];
  for (const [status, reason, kind, code] of cases) {
    test(`${status} ${reason} is ${kind}`, () => {
      const failure = failureOf(status, none, error(reason));
      assert.equal(failure.kind, kind);
      assert.equal(failure.reason.code, code);
    });
  }

  test('new errors name their reason among the details', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'SERVICE_DISABLED' }];
    const body = Buffer.from(
      JSON.stringify({ error: { code: 403, message: 'x', status: 'PERMISSION_DENIED', details } }),
    );
    assert.equal(failureOf(403, none, body).kind, 'fatal');
  });

  test('a wait is told by the header, or by a time in the sentence, and is bounded', () => {
    const wait = (after: string): number =>
      failureOf(429, new Headers({ 'retry-after': after }), error('x')).retryAfterMs;
    assert.equal(wait('3'), 3_000);
    assert.equal(wait('1e9'), 24 * 3_600_000);
    assert.equal(wait('-1'), 0);
    assert.equal(wait('soon'), 0);
    const until = new Date(Date.now() + 60_000).toISOString();
    const limited = failureOf(429, none, error('rateLimitExceeded', `User-rate limit exceeded.  Retry after ${until}`));
    assert.ok(limited.retryAfterMs > 55_000 && limited.retryAfterMs <= 60_000);
  });

  test('a body that is no error of Google is no more than its status', () => {
    for (const body of [
      '',
      '<html>',
      '[]',
      'null',
      '{"error":"x"}',
      '{"error":{"errors":[null,1]}}',
      '['.repeat(60_000),
    ])
      assert.equal(failureOf(403, none, Buffer.from(body)).kind, 'refused', body.slice(0, 20));
  });

  test('nothing of the answer is repeated', () => {
    assert.ok(!failureOf(400, none, error('x', 'ya29.secret')).message.includes('ya29'));
  });
});

test('the token endpoint’s verdicts are told from its troubles', () => {
  const answered = (data: unknown, status = 400) => tokenFailure({ response: { status, data } });
  assert.equal(answered({ error: 'invalid_grant' })?.reason.code, 'revoked');
  assert.equal(answered({ error: 'invalid_client' }, 401)?.reason.code, 'invalid_credentials');
  assert.equal(answered({ error: 'admin_policy_enforced' })?.reason.code, 'restricted');
  assert.equal(answered({}, 429)?.kind, 'limited');
  for (const data of [{ error: 'internal_failure' }, 'x', null, { error: { code: 1 } }])
    assert.equal(answered(data, 500), null);
  for (const other of [null, undefined, new Error('x'), 'x', { response: null }])
    assert.equal(tokenFailure(other), null);
});

test('a call is surely not done only where no connection was made', () => {
  const caused = (cause: unknown): Error => new TypeError('fetch failed', { cause });
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  assert.equal(brokenFailure(caused(coded('ECONNREFUSED'))).kind, 'unreachable');
  assert.equal(
    brokenFailure(caused(new AggregateError([coded('ECONNREFUSED'), coded('EHOSTUNREACH')]))).kind,
    'unreachable',
  );
  assert.equal(
    brokenFailure(caused(new AggregateError([coded('ECONNREFUSED'), coded('ECONNRESET')]))).kind,
    'unavailable',
  );
  for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'EPIPE'])
    assert.equal(brokenFailure(caused(coded(code))).kind, 'unavailable', code);
  assert.equal(brokenFailure(caused(new TooLargeError(9))).kind, 'too_large');
  const round = new Error('round');
  round.cause = round;
  assert.equal(brokenFailure(round).kind, 'unavailable');
  assert.equal(brokenFailure('x').kind, 'unavailable');
});
