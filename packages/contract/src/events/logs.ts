import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Timestamp, listOf, oneOf, pageCursor, patterns } from '../text.ts';
import { ErrorBody } from '../errors.ts';
import { growingList } from './growing-list.ts';
import { entryEvent, namedEvent, streamOf } from './stream.ts';

/** Levels in rising severity. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const logSources = ['system', 'console', 'gateway', 'channel', 'egress'] as const;
export const defaultLogLimit = 100;

export const LogEntry = Type.Object(
  {
    id: Type.String({ description: 'Rises with time, within one agent.', examples: ['48213'] }),
    timestamp: Timestamp,
    level: oneOf(logLevels),
    source: oneOf(logSources, {
      description:
        "`system`: what Lodge did with the agent and why. `console`: the machine's console. `gateway`: the runtime's own log.",
    }),
    message: Type.String({ examples: ['Paused after 45 s without activity.'] }),
  },
  { title: 'LogEntry', additionalProperties: false },
);
export type LogEntry = Static<typeof LogEntry>;

export const LogList = listOf(LogEntry, 'LogList');
export const LogStreamEvent = streamOf('LogStreamEvent', [entryEvent(LogEntry), namedEvent('error', ErrorBody)]);

const growing = growingList({ one: 'entry', many: 'entries', limit: defaultLogLimit });

export const LogsQuery = Type.Object(
  {
    limit: growing.limit,
    cursor: pageCursor('; it holds for this agent and its direction'),
    direction: growing.direction,
    since: growing.since,
    until: growing.until,
    level: Type.Optional(oneOf(logLevels, { description: 'Only entries of this level or a more severe one.' })),
    source: Type.Optional(oneOf(logSources, { description: 'Only entries of this source.' })),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: patterns.text,
        description: 'Only entries whose message contains this, in any case.',
      }),
    ),
    follow: Type.Optional(
      oneOf(['true', 'false'], {
        description:
          '`true`: answer as server-sent events, first the newest `limit` entries (all from `since` on when that is given without `limit`), then every entry as it comes.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type LogsQuery = Static<typeof LogsQuery>;

export const LogsHeaders = growing.headers;
