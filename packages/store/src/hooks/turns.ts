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
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import { renewClaims } from '../work/leases.ts';
import { postponedWork } from '../work/work.ts';
import { claimMessages } from './claims.ts';
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

  renew(claims: readonly TurnClaim[], leaseMs: number): Promise<ReadonlySet<string>> {
    return this.database.repeatable((db) => renewClaims(db, sql`work`, claims, leaseMs));
  }

  end(claim: TurnClaim, end: TurnEnd): Promise<boolean> {
    return this.database.transaction((trx) => endMessage(trx, claim, end));
  }

  async postpone(claim: TurnClaim, wait: Postponement): Promise<boolean> {
    const { rows } = await this.database.once((db) =>
      sql`with ${postponedWork('message', claim, wait)} select from postponed`.execute(db),
    );
    return rows.length === 1;
  }

  tidy(bounds: TidyBounds): Promise<void> {
    return tidyMessages(this.database, bounds);
  }

  onWork(listener: () => void): () => void {
    return this.changes.on('hook_work', () => listener());
  }
}
