import type { Marks } from '../shared/places.ts';

/** A channel, or a thread of it where `threadTs` is given. */
export interface Place {
  readonly channel: string;
  readonly threadTs: string | null;
}

/** As ids of conversations: `<channel>` or `<channel>/<ts of the thread>`. */
export const placeId = ({ channel, threadTs }: Place): string =>
  threadTs === null ? channel : `${channel}/${threadTs}`;

export function placeOf(id: string): Place {
  const [channel = '', threadTs] = id.split('/', 2);
  return { channel, threadTs: threadTs ?? null };
}

export const isTs = (value: unknown): value is string => typeof value === 'string' && /^\d{1,12}\.\d{1,9}$/.test(value);

/** Whether one time of Slack is after another. Both are seconds with six digits, so they fit a number. */
export const isLater = (ts: string, than: string): boolean => Number(ts) > Number(than);

export const tsOf = (ms: number): string => (ms / 1000).toFixed(6);

/** The marks of Slack's histories are times. */
export const slackMarks: Marks = {
  isMark: isTs,
  isConversation: (value) => typeof value === 'string',
  isLater,
  now: () => tsOf(Date.now()),
};
