/** Where a connection has got to in a mailbox. */
import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';

export interface Cursor {
  /** The mailbox of the history: another consent may be for another mailbox. */
  readonly address: string;
  readonly historyId: string;
  /** When everything up to here had been seen, in ms: where to list from when the history is gone. */
  readonly seenAtMs: number;
}

export const cursorJson = ({ address, historyId, seenAtMs }: Cursor): Json => ({ address, historyId, seenAtMs });

export function cursorOf(json: Json | null): Cursor | null {
  if (!isJsonObject(json)) return null;
  const { address, historyId, seenAtMs } = json as Record<string, Json | undefined>;
  const isOurs =
    typeof address === 'string' &&
    typeof historyId === 'string' &&
    /^\d{1,20}$/.test(historyId) &&
    typeof seenAtMs === 'number';
  return isOurs ? { address, historyId, seenAtMs } : null;
}
