import type { HookStore, HookTurns, SecretBox, Tokens } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import type { HookBounds } from './bounds.ts';

/** Dependencies of inbound hooks. */
export interface HookParts {
  readonly store: HookStore;
  readonly turns: HookTurns;
  readonly tokens: Pick<Tokens, 'make' | 'isWellFormed' | 'hash'>;
  readonly bounds?: Partial<HookBounds>;
}

/** Dependencies of the use-cases of owners and senders. */
export interface HooksDeps extends Pick<HookParts, 'store' | 'tokens'> {
  readonly agents: Pick<Agents, 'get'>;
  readonly secrets: SecretBox;
}
