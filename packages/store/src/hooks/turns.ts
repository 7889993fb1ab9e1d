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
import { storable } from '../channels/text.ts';
import { postponeClaim, renewClaims } from '../claimed/claims.ts';
import type { Database } from '../database/connection.ts';
import type { Changes } from '../database/notifications.ts';
import { claimMessages } from './claims.ts';
import { endMessage, maxReasonChars } from './ending.ts';
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
    return renewClaims(this.database, 'hook_messages', claims, leaseMs);
  }

  end(claim: TurnClaim, end: TurnEnd): Promise<boolean> {
    return this.database.transaction((trx) => endMessage(trx, claim, end));
  }

  postpone(claim: TurnClaim, wait: Postponement): Promise<boolean> {
    const reason = sql`reason = ${storable(wait.reason, maxReasonChars)}`;
    return postponeClaim(this.database, 'hook_messages', claim, wait, reason);
  }

  tidy(bounds: TidyBounds): Promise<void> {
    return tidyMessages(this.database, bounds);
  }

  onWork(listener: () => void): () => void {
    return this.changes.on('hook_work', () => listener());
  }
}
