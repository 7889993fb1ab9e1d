import { InvalidCursorError } from '@lodge/engine/ports';

export type Direction = 'asc' | 'desc';

/** A place in one agent's log, and which way a reader goes from there. */
export interface LogPosition {
  readonly direction: Direction;
  readonly entry: bigint;
}

const version = 'l1';
const highest = 2n ** 63n - 1n;

/** Id of an entry, as it stands in a cursor and in Last-Event-ID; null when it cannot be one. */
export function parseEntryId(text: string): bigint | null {
  if (!/^\d{1,19}$/.test(text)) return null;
  const id = BigInt(text);
  return id <= highest ? id : null;
}

export function makeCursor(agentId: string, { direction, entry }: LogPosition): string {
  return Buffer.from([version, agentId, direction, entry].join(' ')).toString('base64url');
}

/** Throws when the cursor is not one that was given for this agent. */
export function readCursor(agentId: string, cursor: string): LogPosition {
  const [, , direction, id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const entry = parseEntryId(id);
  if ((direction === 'asc' || direction === 'desc') && entry !== null) {
    const position = { direction, entry } as const;
    if (makeCursor(agentId, position) === cursor) return position;
  }
  throw new InvalidCursorError();
}
