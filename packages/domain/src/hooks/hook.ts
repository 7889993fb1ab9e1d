/** Words and bounds of inbound hooks: addresses at which a third party's requests become messages to an agent. */
import type { JsonBounds } from '../basics/json-budget.ts';

/**
 * The state of a message. `received`: it waits. `answering`: its turn is in progress. `answered`: the agent finished it, and
 * its answer was delivered. `failed`: it failed for good. `skipped`: the agent did not run, and nothing may wake it.
 */
export const hookMessageStates = ['received', 'answering', 'answered', 'failed', 'skipped'] as const;
export type HookMessageState = (typeof hookMessageStates)[number];
/** A state that does not change any more. */
export type HookMessageEnd = Exclude<HookMessageState, 'received' | 'answering'>;

/** Most hooks of an agent. */
export const maxHooks = 20;
export interface HookWaitBounds {
  readonly ofHook: number;
  readonly ofAccount: number;
  /** UTF-8 bytes of their texts. */
  readonly bytesOfAccount: number;
}

/** Bounds on waiting messages of a hook and of all hooks of an account, and on their UTF-8 bytes of text. */
export const hookWaitBounds: HookWaitBounds = { ofHook: 1_000, ofAccount: 5_000, bytesOfAccount: 64 * 1024 * 1024 };
/** Most messages that a hook accepts in a minute. */
export const maxMessagesPerMinute = 60;
/** Bounds on the body of a request to a hook. */
export const hookBodyBounds = { bytes: 256 * 1024, depth: 64, elements: 20_000 } as const satisfies JsonBounds;

/** The header in which some senders name the event. */
const eventHeader = 'x-github-event';
/** The event by which GitHub checks that a hook is there. Source: docs.github.com/webhooks, "ping". */
const pingEvent = 'ping';
const maxEventChars = 100;

/** Headers of a request, by their names in lower case. */
export type HookHeaders = Readonly<Record<string, string | undefined>>;

/** Returns the sender's name of the event, or null. */
export const hookEventOf = (headers: HookHeaders): string | null =>
  headers[eventHeader]?.slice(0, maxEventChars) || null;

/** Whether the request only checks that the hook is there. */
export const isHookPing = (headers: HookHeaders): boolean => headers[eventHeader] === pingEvent;
