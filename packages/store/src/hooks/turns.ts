import type {
  ClaimOptions,
  ClaimedHookMessage,
  HookTurns,
  Postponement,
  TidyBounds,
  TurnClaim,
  TurnEnd,
} from '@lodge/ports';
import { sql } from 'kysely';
import { inMs } from '../channels/leases.ts';
import { storable } from '../channels/text.ts';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import { claimMessages, claimRows } from './claims.ts';
import { endMessage } from './ending.ts';
import { tidyMessages } from './tidy.ts';

/** `HookTurns` in Postgres. */
export class PostgresHookTurns implements HookTurns {
  private readonly database: Database;
  private readonly changes: Changes;

  constructor(database: Database, changes: Changes) {
    this.database = database;
    this.changes = changes;
  }

  claim(options: ClaimOptions): Promise<readonly ClaimedHookMessage[]> {
    return this.database.transaction((trx) => claimMessages(trx, options));
  }

  async renew(claims: readonly TurnClaim[], leaseMs: number): Promise<ReadonlySet<string>> {
    if (claims.length === 0) return new Set();
    const { rows } = await this.database.repeatable((db) =>
      sql<{ id: string }>`
        update hook_messages r set claim_until = ${inMs(leaseMs)}
        from ${claimRows(claims)} where r.id = k.id and r.claim = k.claim and r.claim_until is not null
        returning r.id
      `.execute(db),
    );
    return new Set(rows.map(({ id }) => id));
  }

  end(claim: TurnClaim, end: TurnEnd): Promise<boolean> {
    return this.database.transaction((trx) => endMessage(trx, claim, end));
  }

  async postpone({ id, claim }: TurnClaim, { afterMs, reason, mayHaveActed }: Postponement): Promise<boolean> {
    const { numAffectedRows } = await this.database.once((db) =>
      sql`
        update hook_messages r set claim_holder = null, claim_until = null, due_at = ${inMs(afterMs)},
          reason = ${storable(reason, 1_000)}, may_have_acted = r.may_have_acted or ${mayHaveActed}, attempt_at = null
        where r.id = ${id} and r.claim = ${claim} and r.claim_until is not null and r.status is null
      `.execute(db),
    );
    return numAffectedRows === 1n;
  }

  tidy(bounds: TidyBounds): Promise<void> {
    return tidyMessages(this.database, bounds);
  }

  onWork(listener: () => void): () => void {
    return this.changes.on('hook_work', () => listener());
  }
}
