import type { FailureFacts, ReportedError } from '@lodge/ports';
import { openaiFailure } from '../gateway/failures.ts';

/**
 * Translates a failure. OpenClaw answers in OpenAI's types, except for a key that it has disabled and for a provider that it
 * gave up on.
 */
export function turnFailure(reported: ReportedError): FailureFacts {
  const facts = openaiFailure(reported);
  if (facts.kind === 'provider_rate_limit') return facts;
  if (reported.message.includes('auth/billing failure')) return { kind: 'provider_refused_key' };
  const how = facts.kind === 'turn_failed' ? /^upstream provider (\w{1,40})/.exec(reported.message)?.[1] : undefined;
  return how === undefined ? facts : { kind: 'provider_failed', words: how };
}
