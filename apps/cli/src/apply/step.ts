/** Steps of a plan: what changes, and the request that changes it. */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Lodge } from '@lodge/sdk';
import { canonical } from './diff.ts';
import type { FieldChange } from './diff.ts';
import type { SecretsOut } from './secrets-out.ts';

export type Action = 'create' | 'update' | 'replace' | 'delete' | 'start' | 'stop';

/** The means by which a plan is carried out. */
export interface Acting {
  readonly lodge: Lodge;
  readonly call: { readonly signal: AbortSignal };
  /** Ids of agents by name, those that were made too. */
  readonly ids: Map<string, string>;
  readonly secretsOut: SecretsOut | null;
  /** Tells what is under way; the text must be harmless. */
  readonly say: (text: string) => void;
}

export interface Step {
  readonly action: Action;
  /** Such as `schedule daily`; empty for the agent itself. */
  readonly what: string;
  readonly changes: readonly FieldChange[];
  /** One sentence that a person should know before. */
  readonly note?: string;
  /** Whether the reply has a secret that is shown this once. */
  readonly yieldsSecret?: boolean;
  /** Done when all agents are there. */
  readonly isLast?: boolean;
  do(acting: Acting, agentId: string): Promise<void>;
}

interface Once<T> {
  /** The thing that is asked for, without secrets. */
  readonly parts: readonly unknown[];
  readonly make: (idempotencyKey: string | undefined) => Promise<T>;
  /** Whether what a reply tells of is there, since a kept reply may be of something that was removed. */
  readonly isThere: (made: T) => Promise<boolean>;
  /** Finds what an earlier run made whose reply was not kept. */
  readonly again?: () => Promise<T | null>;
}

const inProgressMs = 500;
const mostTries = 60;

/**
 * Makes something once. The key is made of what is asked for: a run that was killed in the midst and begins again asks with the
 * same key, and gets the reply of the first.
 */
export async function makeOnce<T>({ parts, make, isThere, again }: Once<T>, signal: AbortSignal): Promise<T> {
  const hash = createHash('sha256').update(JSON.stringify(canonical(parts)));
  const key = `apply-${hash.digest('hex').slice(0, 40)}`;
  for (let tries = 0; ; tries += 1) {
    try {
      const made = await make(key);
      if (await isThere(made)) return made;
      break;
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (code === 'idempotency_key_reused') break;
      if (code !== 'idempotency_in_progress' || tries >= mostTries) throw error;
      await setTimeout(inProgressMs, undefined, { signal });
    }
  }
  // It was made and removed again since, or asked for with another secret, or its reply was a secret.
  return (await again?.()) ?? make(undefined);
}
