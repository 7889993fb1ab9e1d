import { InvalidCursorError } from '@lodge/ports';

export type Direction = 'asc' | 'desc';

/** A place in a growing list (an agent's log, an account's events), and a reader's direction from there. */
export interface Position {
  readonly direction: Direction;
  readonly entry: bigint;
}

const version = 'l1';
const highest = 2n ** 63n - 1n;

/** The id of an entry in a cursor and in Last-Event-ID; null when it cannot be one. */
export function parseEntryId(text: string): bigint | null {
  if (!/^\d{1,19}$/.test(text)) return null;
  const id = BigInt(text);
  return id <= highest ? id : null;
}

/** `list` names the list: the id of its agent or account. */
export function makeCursor(list: string, { direction, entry }: Position): string {
  return Buffer.from([version, list, direction, entry].join(' ')).toString('base64url');
}

/** Throws when the cursor was not made for this list. */
export function readCursor(list: string, cursor: string): Position {
  const [, , direction, id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const entry = parseEntryId(id);
  if ((direction === 'asc' || direction === 'desc') && entry !== null) {
    const position = { direction, entry } as const;
    if (makeCursor(list, position) === cursor) return position;
  }
  throw new InvalidCursorError();
}
