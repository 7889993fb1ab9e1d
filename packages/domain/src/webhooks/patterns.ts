/** Which events a webhook is told of. */
import { publicEvents } from '../events/event.ts';
import type { EventType } from '../events/event.ts';

export const maxPatterns = 50;

/** Of a delivery that its owner asked for and nothing has caused. */
export const webhookTestType = 'webhook.test';

/** `*`, a type, or a family such as `agent.*`. A family that has no type yet may get some. */
export const webhookPattern = /^(?:\*|[a-z_]{1,40}\.(?:\*|[a-z_]{1,40}))$/;

/** The types of today that the patterns name. */
export function typesOf(patterns: readonly string[]): readonly EventType[] {
  return [...publicEvents.keys()].filter((type) => patterns.some((pattern) => matches(pattern, type)));
}

/** Whether a pattern names a type of today, or a family: a type that there is none of is a slip. */
export const namesSomething = (pattern: string): boolean => pattern.endsWith('*') || typesOf([pattern]).length > 0;

function matches(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}
