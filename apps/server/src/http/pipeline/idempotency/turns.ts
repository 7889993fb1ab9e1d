/**
 * Turns at the database for claims of Idempotency-Keys. Claims of one account wait there for one another's commit, each with
 * a connection of the pool, which is first come, first served: a flood of them would delay everybody. So an account has two
 * at once, all accounts together leave connections for other work, and waiting accounts take turns.
 */
import { FairGate, Places } from '@lodge/domain';
import { DatabaseBusyError } from '@lodge/ports';

/** The pool has ten connections. */
const places = { perName: 2, inAll: 6, few: 1 };
/** Bounds on requests that were not begun. */
const waiters = { perName: 500, inAll: 2_000, few: 50 };

export class ClaimTurns {
  readonly #gate = new FairGate(places);
  readonly #waiters = new Places(waiters);

  /** Does the work of a request that was not begun. Rejects with `DatabaseBusyError` if too many wait. */
  begin<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const room = this.#waiters.roomOf(accountId, () => new DatabaseBusyError());
    return this.#gate.through(accountId, work, { room });
  }

  /** Does the work of a request that was begun, and so is counted already. */
  end<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    return this.#gate.through(accountId, work);
  }
}
