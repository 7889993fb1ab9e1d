import type { Generated } from 'kysely';

/** The queue of work. */
export interface WorkTables {
  work: WorkTable;
}

export interface WorkTable {
  kind: WorkKind;
  id: string;
  /** int8, which comes as text. */
  seq: Generated<string>;
  account_id: string;
  agent_id: string;
  lane: string;
  due_at: Date;
  attempts: Generated<number>;
  started_at: Date | null;
  attempt_at: Date | null;
  may_have_acted: Generated<boolean>;
  reason: string | null;
  claim: Generated<number>;
  claim_holder: string | null;
  claim_until: Date | null;
}

/** Runs of schedules and messages of hooks. */
export type WorkKind = 'run' | 'message';
