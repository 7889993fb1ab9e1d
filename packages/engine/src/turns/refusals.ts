import { Refusal } from '@lodge/domain';
import type { ErrorCode } from '@lodge/domain';
import { GatewayFailure } from '@lodge/ports';
import type { FailureFacts, FailureKind } from '@lodge/ports';

interface TurnRefusal {
  readonly code: ErrorCode;
  readonly message: string | ((facts: FailureFacts) => string);
  /** False: the turn may have acted before it failed. */
  readonly mayRepeat?: false;
}

const notAnswering: TurnRefusal = {
  code: 'agent_unavailable',
  message: 'The agent does not answer at the moment. Try again shortly.',
};

/** The refusals for callers, by kind of failure. */
const failures: Readonly<Record<FailureKind, TurnRefusal>> = {
  not_connected: notAnswering,
  not_serving: notAnswering,
  broken_off: {
    code: 'agent_unavailable',
    message: 'The agent stopped before its answer was complete.',
    mayRepeat: false,
  },
  request_refused: { code: 'invalid_request', message: ({ words }) => words || 'The agent refused the request.' },
  request_too_large: { code: 'request_too_large', message: 'The messages are too large for the agent.' },
  provider_rate_limit: {
    code: 'rate_limit_exceeded',
    message: "The agent's LLM provider answered: too many requests.",
    mayRepeat: false,
  },
  provider_refused_key: {
    code: 'invalid_request',
    message: "The LLM provider refused the agent's key (llm_keys), or its account has no credit.",
  },
  provider_failed: {
    code: 'internal_error',
    message: ({ words }) => `The agent's LLM provider failed (${words ?? 'error'}).`,
    mayRepeat: false,
  },
  turn_failed: { code: 'internal_error', message: 'The agent could not finish this turn.', mayRepeat: false },
};

/** Failures that pictures in the request may have caused: runtimes report a provider's refusal in more than one way. */
const mayBeForPictures: readonly FailureKind[] = [
  'request_refused',
  'request_too_large',
  'provider_failed',
  'turn_failed',
];

export const isPerhapsForPictures = (error: unknown): boolean =>
  error instanceof GatewayFailure && mayBeForPictures.includes(error.facts.kind);

function ofFailure({ facts, cause }: GatewayFailure): Refusal {
  const { code, message, mayRepeat } = failures[facts.kind];
  return new Refusal(code, typeof message === 'string' ? message : message(facts), {
    cause,
    retryAfterSeconds: facts.retryAfterSeconds ?? undefined,
    ...(mayRepeat === false && { mayRepeat }),
  });
}

/** Why an answer broke off, whatever ended it. */
export function brokenOff(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return ofFailure(error instanceof GatewayFailure ? error : new GatewayFailure({ kind: 'broken_off' }, error));
}

/** Returns the same error, with a gateway's failure as a refusal. */
export const refusalOf = (error: unknown): unknown => (error instanceof GatewayFailure ? ofFailure(error) : error);
