/** The kinds of work: what each adds to the queue. */
import type { RawBuilder } from 'kysely';
import { confirmationFacts } from '../confirmations/facts.ts';
import type { ConfirmationFacts } from '../confirmations/facts.ts';
import { messageFacts } from '../hooks/facts.ts';
import type { MessageFacts } from '../hooks/facts.ts';
import { runFacts } from '../schedules/facts.ts';
import type { RunFacts } from '../schedules/facts.ts';
import type { WorkClaim } from './leases.ts';
import type { WorkKind } from './tables.ts';

interface Kind {
  /** The table in which pieces have their ends. */
  readonly table: string;
  /** The table of the pieces' owners, and the column with the owner's id. */
  readonly owners: string;
  readonly ownerId: string;
  /** The facts of a claimed piece with the id `taken.id`, as JSON. */
  readonly facts: RawBuilder<unknown>;
}

export const kinds: Readonly<Record<WorkKind, Kind>> = {
  run: { table: 'schedule_runs', owners: 'schedules', ownerId: 'schedule_id', facts: runFacts },
  message: { table: 'hook_messages', owners: 'hooks', ownerId: 'hook_id', facts: messageFacts },
  confirmation: { table: 'confirmations', owners: 'agents', ownerId: 'agent_id', facts: confirmationFacts },
};

interface Claimed<Kind extends WorkKind, Facts> extends WorkClaim {
  readonly kind: Kind;
  /** Number of earlier claims. */
  readonly attempts: number;
  /** Whether an attempt began and its outcome is unknown. */
  readonly mayHaveActed: boolean;
  readonly facts: Facts;
}

export type ClaimedRun = Claimed<'run', RunFacts>;
export type ClaimedMessage = Claimed<'message', MessageFacts>;
export type ClaimedConfirmation = Claimed<'confirmation', ConfirmationFacts>;
export type ClaimedPiece = ClaimedRun | ClaimedMessage | ClaimedConfirmation;
