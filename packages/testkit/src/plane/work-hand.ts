import type { Store } from '@lodge/store';
import { claimWork, deleteEnded, renewWork } from '@lodge/store/work';
import type { ClaimedPiece, Postponement, WorkClaim } from '@lodge/store/work';
import type { Kind, TurnEnd } from '../../../engine/src/work/kind.ts';

interface Claiming {
  readonly limit?: number;
  readonly leaseMs?: number;
  readonly except?: readonly string[];
}

/** Does what the loop of work does with pieces of one kind, step by step, as one process of several. */
export class WorkHand<Piece extends ClaimedPiece> {
  private readonly database: Store['database'];
  private readonly name: Piece['kind'];
  private readonly kind: Kind<Piece>;

  constructor({ database }: Pick<Store, 'database'>, name: Piece['kind'], kind: Kind<Piece>) {
    this.database = database;
    this.name = name;
    this.kind = kind;
  }

  async claim({ limit = 100, leaseMs = 30_000, except = [] }: Claiming = {}): Promise<readonly Piece[]> {
    const options = { holder: 'h', host: 'here', places: { [this.name]: limit }, leaseMs, except };
    const pieces = await this.database.transaction((trx) => claimWork(trx, options));
    return pieces as readonly Piece[];
  }

  renew(claims: readonly WorkClaim[], leaseMs: number): Promise<ReadonlySet<string>> {
    return this.database.repeatable((db) => renewWork(db, claims, leaseMs));
  }

  end(claim: WorkClaim, end: TurnEnd): Promise<boolean> {
    return this.database.transaction((trx) => this.kind.end(trx, claim, end));
  }

  postpone(claim: WorkClaim, wait: Postponement): Promise<boolean> {
    return this.database.transaction((trx) => this.kind.postpone(trx, claim, wait));
  }

  /** Ends what waits in vain, and deletes old work. */
  async tidy(bounds = this.kind.bounds): Promise<void> {
    while (await this.database.transaction((trx) => this.kind.endVain(trx)));
    await deleteEnded(this.database, this.name, bounds);
  }
}
