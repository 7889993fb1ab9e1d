import { agentIdPattern } from '@lodge/domain';
import { InvalidCursorError } from '@lodge/ports';

/** The last agent of a page, after which the next page begins. */
export interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

/** Returns a cursor that is opaque to clients: they must not build one, and its content may change. */
export function encodeCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt.getTime()}.${id}`).toString('base64url');
}

/** Reads a cursor. Throws `InvalidCursorError` for anything that `encodeCursor` would not have written. */
export function decodeCursor(cursor: string): Position {
  const [, milliseconds, id] = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const position = { createdAt: new Date(Number(milliseconds)), id: id ?? '' };
  if (!agentIdPattern.test(position.id) || encodeCursor(position) !== cursor) throw new InvalidCursorError();
  return position;
}
