import { isJsonObject } from '@lodge/domain';
import type { Json } from '@lodge/domain';
import { Places } from '../shared/places.ts';
import type { Marks } from '../shared/places.ts';

export interface DiscordSession {
  readonly id: string;
  readonly resumeUrl: string;
  readonly seq: number;
}

export const isSnowflake = (value: unknown): value is string =>
  typeof value === 'string' && /^[1-9]\d{0,19}$/.test(value);

/** Snowflakes rise with time. */
export const isLater = (id: string, than: string): boolean =>
  id.length === than.length ? id > than : id.length > than.length;

const epochMs = 1_420_070_400_000;
export const snowflakeAt = (ms: number): string => String(BigInt(Math.max(1, Math.floor(ms) - epochMs)) << 22n);

const marks: Marks = {
  isMark: isSnowflake,
  isConversation: isSnowflake,
  isLater,
  now: () => snowflakeAt(Date.now()),
};

/** The places in the bot's channels, and the session that can be resumed. */
export class DiscordPlaces extends Places {
  /** As far as its messages are committed. */
  session: DiscordSession | null;

  constructor(cursor: Json | null) {
    super(marks, cursor);
    this.session = sessionOf(cursor?.['session']);
  }

  override cursor(): Json {
    const { session } = this;
    const kept = session && { id: session.id, resumeUrl: session.resumeUrl, seq: session.seq };
    return { ...super.cursor(), session: kept };
  }
}

function sessionOf(value: unknown): DiscordSession | null {
  if (!isJsonObject(value)) return null;
  const { id, resumeUrl, seq } = value;
  if (typeof id !== 'string' || typeof resumeUrl !== 'string' || !Number.isSafeInteger(seq)) return null;
  return { id, resumeUrl, seq: seq as number };
}
