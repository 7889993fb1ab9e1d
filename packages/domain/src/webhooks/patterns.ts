/** Patterns of events that a webhook receives. */
import { publicEvents } from '../events/event.ts';
import type { EventType } from '../events/event.ts';

export const maxPatterns = 50;

/** The type of a test delivery, which the owner requested and no event caused. */
export const webhookTestType = 'webhook.test';

/** `*`, a type, or a family such as `agent.*`. A family without a type may get types later. */
export const webhookPattern = /^(?:\*|[a-z_]{1,40}\.(?:\*|[a-z_]{1,40}))$/;

/** Returns the present types that the patterns name. */
export function typesOf(patterns: readonly string[]): readonly EventType[] {
  return [...publicEvents.keys()].filter((type) => patterns.some((pattern) => matches(pattern, type)));
}

/** Whether a pattern names a present type, or a family. An unknown type is a slip. */
export const namesSomething = (pattern: string): boolean => pattern.endsWith('*') || typesOf([pattern]).length > 0;

function matches(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}
