/** Words and bounds of inbound hooks: addresses at which a third party's requests become messages to an agent. */
import type { JsonBounds } from '../bounded-json.ts';

/**
 * What became of a message. `received`: it waits. `answering`: its turn is under way. `answered`: the agent came to the end of it,
 * and its answer is where it belongs. `failed`: it did not, for good. `skipped`: the agent did not run, and nothing may wake it.
 */
export const hookMessageStates = ['received', 'answering', 'answered', 'failed', 'skipped'] as const;
export type HookMessageState = (typeof hookMessageStates)[number];
/** Of a message whose state does not change any more. */
export type HookMessageEnd = Exclude<HookMessageState, 'received' | 'answering'>;

/** Hooks that an agent may have. */
export const maxHooks = 20;
/** Messages that may wait: so many of a hook, and of all hooks of an account so many, with so many UTF-8 bytes of text. */
export const hookWaitBounds = { ofHook: 1_000, ofAccount: 5_000, bytesOfAccount: 64 * 1024 * 1024 } as const;
/** Messages that a hook takes in a minute. */
export const maxMessagesPerMinute = 60;
/** Of the body of a request to a hook. */
export const hookBodyBounds = { bytes: 256 * 1024, depth: 64, elements: 20_000 } as const satisfies JsonBounds;

/** What names the event of a sender who says so in a header. */
const eventHeader = 'x-github-event';
/** GitHub asks so whether a hook is there. Source: docs.github.com/webhooks, "ping". */
const pingEvent = 'ping';
const maxEventChars = 100;

/** Headers of a request, by their names in lower case. */
export type HookHeaders = Readonly<Record<string, string | undefined>>;

/** What the sender calls the event; null: nothing. */
export const hookEventOf = (headers: HookHeaders): string | null =>
  headers[eventHeader]?.slice(0, maxEventChars) || null;

/** Whether the request only asks if the hook is there. */
export const isHookPing = (headers: HookHeaders): boolean => headers[eventHeader] === pingEvent;
