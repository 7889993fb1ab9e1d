import {
  Event,
  EventList,
  EventsHeaders,
  ListEventsQuery,
  defaultEventLimit,
  publicEventTypes,
  EventStreamEvent,
} from '@lodge/contract';
import type { EventQuery, EventRow, EventStore } from '@lodge/ports';
import type { App } from '../../app-types.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { onReplyOver } from '../../pipeline/client-gone.ts';
import { follow } from '../../reply/follow/follow.ts';
import { Followers } from '../../reply/follow/followers.ts';
import { SharedPages } from '../../reply/follow/shared-pages.ts';
import { makeCursor, readCursor } from '../../reply/follow/position.ts';
import { beginOf, directionOf } from '../../reply/follow/query.ts';
import { pageReply } from '../../reply/page.ts';
import { toWire } from '../../reply/to-wire.ts';
import { timeOf } from '../../pipeline/query.ts';
import { eventStreamType } from '../../reply/event-stream.ts';
import type { StreamNeeds } from '../../reply/follow/stream.ts';
import { streamEntries } from '../../reply/follow/stream.ts';

const schema = {
  operationId: 'listEvents',
  tags: ['Events'],
  summary: 'Read or follow events',
  description:
    "What happened to the account's agents, keys and limits. Newest first; `direction=asc` reads oldest first. With `follow=true`, or `Accept: text/event-stream`, the reply is a stream, oldest first: a server-sent event for each event, its `id` the event's and its `data` the event as JSON; comments while there is nothing to tell. It ends with the API key or session. Reconnect with `Last-Event-ID` and nothing is missed or told twice. Old events are removed: how many and how long they are kept is a setting of the deployment.",
  headers: EventsHeaders,
  querystring: ListEventsQuery,
  response: {
    200: {
      description: 'A page of events, or events as they come.',
      content: { 'application/json': { schema: EventList }, 'text/event-stream': { schema: EventStreamEvent } },
    },
  },
};
const config = { scopes: ['agents:read'], errors: ['rate_limit_exceeded'] } as const;

type Filter = Omit<EventQuery, 'from' | 'direction' | 'limit'>;

interface Needs extends StreamNeeds {
  readonly events: Pick<EventStore, 'page' | 'onAppend'>;
  readonly cursors: Cursors;
}

export function listEventsRoute(app: App, context: Needs): void {
  const followers = new Followers('event');
  const { events } = context;
  const shared = new SharedPages<EventQuery, EventRow>((query) => events.page(query));
  let unsubscribe: (() => void) | null = null;
  app.addHook('onClose', async () => unsubscribe?.());
  app.route({
    method: 'GET',
    url: '/v1/events',
    schema,
    config,
    handler: async (request, reply) => {
      const { query, headers } = request;
      const { accountId } = request.principal;
      const filter = filterOf(accountId, query);
      if (!wantsStream(query, headers.accept)) return listPage(context, filter, query);
      const begin = beginOf(query, headers['last-event-id'], { entry: 'event', limit: defaultEventLimit });
      // There is nothing to follow without a body.
      if (request.method === 'HEAD') return reply.type(eventStreamType).send('');
      onReplyOver(reply, followers.join(accountId));
      // It subscribes before any follower does, so it is called first.
      unsubscribe ??= events.onAppend(shared.grown);
      const list = {
        page: (page: Pick<EventQuery, 'from' | 'direction' | 'limit'>) => {
          const place = JSON.stringify([filter, page.direction, page.limit, String(page.from)]);
          return shared.page(place, { ...filter, ...page });
        },
        onGrown: (listener: () => void) =>
          events.onAppend((grown) => {
            if (grown === null || grown === accountId) listener();
          }),
      };
      return streamEntries<EventRow>(context, request, reply, {
        follow: (signal) => follow(list, { begin, signal }),
        record: eventRecord,
      });
    },
  });
}

function wantsStream({ follow: asked }: ListEventsQuery, accept: string | undefined): boolean {
  return asked === undefined ? (accept?.includes('text/event-stream') ?? false) : asked === 'true';
}

async function listPage({ events, cursors }: Needs, filter: Filter, query: ListEventsQuery) {
  const { limit = defaultEventLimit } = query;
  const { accountId } = filter;
  const position =
    query.cursor === undefined ? null : readCursor(accountId, cursors.open('events', accountId, query.cursor));
  const direction = directionOf(query, position);
  const rows = await events.page({ ...filter, ...(position && { from: position.entry }), direction, limit: limit + 1 });
  const cursorOf = ({ id }: EventRow): string | null =>
    cursors.seal('events', accountId, makeCursor(accountId, { direction, entry: id }));
  return pageReply(rows, { limit, record: eventRecord, cursorOf });
}

function filterOf(accountId: string, { type, agent_id, since, until }: ListEventsQuery): Filter {
  return {
    accountId,
    types: type === undefined ? publicEventTypes : [type],
    ...(agent_id !== undefined && { agentId: agent_id }),
    ...(since !== undefined && { since: timeOf(since) }),
    ...(until !== undefined && { until: timeOf(until) }),
  };
}

/** The public form of an event. A target that is no agent is among the data: `api_key_id`. */
const eventRecord = ({ id, at: createdAt, target, ...event }: EventRow): Event => {
  const data = { ...event.data, ...(target && { [`${target.kind}_id`]: target.id }) };
  return toWire(Event, { ...event, id: String(id), createdAt, data });
};
