import type { SecretBox } from '@lodge/ports';
import { InvalidCursorError } from '@lodge/ports';

/**
 * Cursors as clients get them: sealed, for one account and one list. A changed cursor, or one of another account or list, is
 * refused; the list alone knows its content. A change of the master key ends the ones in use.
 */
export class Cursors {
  private readonly box: SecretBox | undefined;

  /** Without a box cursors are sent unsealed. */
  constructor(box: SecretBox | undefined) {
    this.box = box;
  }

  seal(list: string, accountId: string, position: string | null): string | null {
    if (position === null || this.box === undefined) return position;
    return this.box.seal(position, contextOf(list, accountId));
  }

  /** Throws `InvalidCursorError` for a text that `seal` did not make for this list and account. */
  open(list: string, accountId: string, cursor: string): string {
    if (this.box === undefined) return cursor;
    try {
      return this.box.open(cursor, contextOf(list, accountId));
    } catch {
      throw new InvalidCursorError();
    }
  }
}

const contextOf = (list: string, accountId: string): string => `cursor:${list}:${accountId}`;
