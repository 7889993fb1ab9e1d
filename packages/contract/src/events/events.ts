import { publicEvents } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Timestamp, listOf, nullable, oneOf, pageCursor, patterns } from '../text.ts';
import { ErrorBody } from '../errors.ts';
import { growingList } from './growing-list.ts';
import { entryEvent, namedEvent, streamOf } from './stream.ts';

export const publicEventTypes = [...publicEvents.keys()];
export const defaultEventLimit = 100;

export const Event = Type.Object(
  {
    object: Type.Literal('event'),
    id: Type.String({ description: 'Rises with time, within one account.', examples: ['48213'] }),
    type: Type.String({
      description: `The kind of the event. Further types may come: skip those that you do not know. Today: ${publicEventTypes.map((type) => `\`${type}\``).join(', ')}.`,
      examples: ['agent.paused'],
    }),
    created_at: Timestamp,
    agent_id: nullable(Type.String({ description: 'The agent that it is about.' })),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Further facts, by the type; never a secret.',
      examples: [{ cause: 'idle', duration_ms: 7 }],
    }),
  },
  { title: 'Event', additionalProperties: false },
);
export type Event = Static<typeof Event>;

export const EventList = listOf(Event, 'EventList');
export const EventStreamEvent = streamOf('EventStreamEvent', [entryEvent(Event), namedEvent('error', ErrorBody)]);

const growing = growingList({ one: 'event', many: 'events', limit: defaultEventLimit });

export const ListEventsQuery = Type.Object(
  {
    limit: growing.limit,
    cursor: pageCursor('; it holds for its direction'),
    direction: growing.direction,
    type: Type.Optional(oneOf(publicEventTypes, { description: 'Only events of this type.' })),
    agent_id: Type.Optional(
      Type.String({ pattern: patterns.agentId, maxLength: 12, description: 'Only events of this agent.' }),
    ),
    since: growing.since,
    until: growing.until,
    follow: Type.Optional(
      oneOf(['true', 'false'], {
        description:
          '`true`, or `Accept: text/event-stream`: answer as server-sent events, first the newest `limit` events (all from `since` on when that is given without `limit`), then every event as it comes.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ListEventsQuery = Static<typeof ListEventsQuery>;

export const EventsHeaders = growing.headers;
