import type { Json } from '@lodge/domain';
import type { FailureFacts, ReportedError, ReportedStep } from '@lodge/ports';
import { openaiFailure } from '../gateway/failures.ts';
import { textField } from '../gateway/json.ts';

/**
 * Reads OpenClaw's report of a tool. The image adds the event to the stream of a chat completion (`images/openclaw/recipe.json`):
 * OpenClaw itself tells it only at its own WebSocket.
 */
export function toolStep(event: string, data: Json): ReportedStep | null {
  if (event !== 'openclaw.tool') return null;
  const isStart = data['phase'] === 'start';
  if (!isStart && data['phase'] !== 'end') return null;
  return {
    call: textField(data, 'toolCallId'),
    tool: textField(data, 'name'),
    status: isStart ? 'started' : data['status'] === 'completed' ? 'completed' : 'failed',
    title: textField(data, 'meta'),
  };
}

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
