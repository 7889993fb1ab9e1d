/** Tests the translation of each runtime's words for failures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailureFacts, ReportedError } from '@lodge/ports';
import { turnFailure as hermes } from './hermes/reports.ts';
import { turnFailure as openclaw } from './openclaw/reports.ts';

const reported = (error: Partial<ReportedError>): ReportedError => ({
  status: null,
  type: '',
  message: '',
  retryAfterSeconds: null,
  ...error,
});
type Cases = readonly (readonly [Partial<ReportedError>, FailureFacts])[];

/** OpenAI's own words, equal for both runtimes. */
const shared: Cases = [
  [
    { type: 'rate_limit_error', retryAfterSeconds: 7 },
    { kind: 'provider_rate_limit', retryAfterSeconds: 7 },
  ],
  [
    { type: 'rate_limit_error', message: 'slow; Retry-After: 9 seconds' },
    { kind: 'provider_rate_limit', retryAfterSeconds: 9 },
  ],
  [
    { type: 'rate_limit_error', message: `Retry-After: ${'9'.repeat(400)}` },
    { kind: 'provider_rate_limit', retryAfterSeconds: null },
  ],
  [{ type: 'authentication_error' }, { kind: 'provider_refused_key' }],
  [{ type: 'insufficient_quota' }, { kind: 'provider_refused_key' }],
  [
    { type: 'invalid_request_error', message: ' No\n\u0007such field ' },
    { kind: 'request_refused', words: 'No such field' },
  ],
  [{ status: 503 }, { kind: 'not_serving' }],
  [{ status: 413 }, { kind: 'request_too_large' }],
  [{ status: 401, type: 'unauthorized' }, { kind: 'turn_failed' }],
];

test('both runtimes speak OpenAI’s types', () => {
  for (const runtime of [openclaw, hermes]) {
    for (const [error, facts] of shared) assert.deepEqual(runtime(reported(error)), facts);
  }
});

test('Hermes tells of a provider by the status in its message', () => {
  const cases: Cases = [
    [{ message: 'HTTP 401: wrong key' }, { kind: 'provider_refused_key' }],
    [{ message: 'HTTP 402: no credit' }, { kind: 'provider_refused_key' }],
    [{ message: 'HTTP 429: Retry-After: 3' }, { kind: 'provider_rate_limit', retryAfterSeconds: 3 }],
    [{ message: 'HTTP 422: no such field\nat all ' }, { kind: 'request_refused', words: 'no such field at all' }],
    [{ message: 'HTTP 413: too large' }, { kind: 'request_refused', words: 'too large' }],
    [{ type: 'rate_limit_error', message: 'HTTP 500: oops' }, { kind: 'turn_failed' }],
    [{ message: 'about HTTP 401: x' }, { kind: 'turn_failed' }],
  ];
  for (const [error, facts] of cases) assert.deepEqual(hermes(reported(error)), facts);
});

test('OpenClaw tells of a key that it put aside and of a provider that it gave up on', () => {
  const billing = 'Inline API key for provider "x" is disabled after a provider auth/billing failure';
  const cases: Cases = [
    [{ type: 'invalid_request_error', message: billing }, { kind: 'provider_refused_key' }],
    [
      { status: 502, message: 'upstream provider error' },
      { kind: 'provider_failed', words: 'error' },
    ],
    [
      { status: 502, message: `upstream provider ${'x'.repeat(99)}` },
      { kind: 'provider_failed', words: 'x'.repeat(40) },
    ],
    [{ message: 'HTTP 401: wrong key' }, { kind: 'turn_failed' }],
  ];
  for (const [error, facts] of cases) assert.deepEqual(openclaw(reported(error)), facts);
});
