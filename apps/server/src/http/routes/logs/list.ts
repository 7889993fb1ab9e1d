import { Readable } from 'node:stream';
import { AgentParams, LogList, LogsHeaders, LogsQuery, defaultLogLimit, errorBody } from '@lodge/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { checkAgentId } from '../../agent-record.ts';
import { withComments } from '../../chat/event-stream.ts';
import { clientGone, onReplyOver } from '../../client-gone.ts';
import type { App, HttpContext } from '../../context.ts';
import { ApiError, reportError } from '../../errors.ts';
import { makeCursor, parseEntryId, readCursor } from '../../logs/cursor.ts';
import { keyEnded } from '../../key-ended.ts';
import { entryRecord } from '../../logs/entry.ts';
import { followLog } from '../../logs/follow.ts';
import type { FollowRequest, LogFilter } from '../../logs/follow.ts';
import { Followers } from '../../logs/followers.ts';

/** A stream that was silent this long gets a comment. */
const defaultSilenceMs = 10_000;

const schema = {
  operationId: 'listAgentLogs',
  tags: ['Agents'],
  summary: "Read an agent's log",
  description:
    "In every status. Newest entries first; `direction=asc` reads oldest first. With `follow=true` the reply is `text/event-stream`, oldest first: an event per entry, its `id` the entry's and its `data` the entry as JSON; comments while there is nothing to tell. It ends with the API key. Reconnect with `Last-Event-ID` and nothing is missed or told twice. Old entries are removed: how many and how long they are kept is a setting of the deployment.",
  params: AgentParams,
  headers: LogsHeaders,
  querystring: LogsQuery,
  response: {
    200: {
      description: 'A page of the log, or the log as it grows.',
      content: { 'application/json': { schema: LogList }, 'text/event-stream': { schema: Type.String() } },
    },
  },
};
const config = { scopes: ['agents:read'], errors: ['agent_not_found', 'rate_limit_exceeded'] } as const;

interface LogsRequest {
  readonly id: string;
  readonly query: LogsQuery;
}

export function agentLogsRoute(app: App, context: HttpContext): void {
  const followers = new Followers();
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/logs',
    schema,
    config,
    handler: async (request, reply) => {
      const { id } = request.params;
      const { query } = request;
      const asked = { id, query };
      if (query.follow !== 'true') return listPage(context, request.principal.accountId, asked);
      const begin = beginOf(query, request.headers['last-event-id']);
      checkAgentId(id);
      // There is nothing to follow without a body.
      if (request.method === 'HEAD') return reply.type(eventStream).send('');
      onReplyOver(reply, followers.join(request.principal.accountId));
      return stream(context, request, reply, { filter: filterOf(asked), begin });
    },
  });
}

async function listPage({ agents, cursors }: HttpContext, accountId: string, asked: LogsRequest) {
  const { id, query } = asked;
  const { limit = defaultLogLimit } = query;
  const position = query.cursor === undefined ? null : readCursor(id, cursors.open('logs', accountId, query.cursor));
  const direction = query.direction ?? position?.direction ?? 'desc';
  if (position && position.direction !== direction) {
    throw new ApiError('invalid_request', `cursor goes with direction=${position.direction}.`);
  }
  checkAgentId(id);
  // One more than asked for tells whether there is more.
  const from = position && { from: position.entry };
  const entries = await agents.logs(accountId, { ...filterOf(asked), ...from, direction, limit: limit + 1 });
  const page = entries.slice(0, limit);
  const hasMore = entries.length > limit;
  return {
    object: 'list' as const,
    data: page.map(entryRecord),
    has_more: hasMore,
    next_cursor: cursors.seal(
      'logs',
      accountId,
      hasMore ? makeCursor(id, { direction, entry: page.at(-1)!.id }) : null,
    ),
  };
}

function filterOf({ id, query }: LogsRequest): LogFilter {
  const { since, until, level, source, search } = query;
  return {
    agentId: id,
    ...(since !== undefined && { since: timeOf(since) }),
    ...(until !== undefined && { until: timeOf(until) }),
    ...(level && { minLevel: level }),
    ...(source && { source }),
    ...(search !== undefined && { search }),
  };
}

/** The schema has checked it; RFC 3339 allows small letters, JavaScript does not. */
const timeOf = (text: string): Date => new Date(text.toUpperCase());

function beginOf(query: LogsQuery, lastEventId: string | undefined): FollowRequest['begin'] {
  for (const name of ['cursor', 'until'] as const) {
    if (query[name] !== undefined) throw new ApiError('invalid_request', `${name} does not go with follow.`);
  }
  if (query.direction === 'desc') {
    throw new ApiError('invalid_request', 'direction can only be asc with follow.');
  }
  if (lastEventId !== undefined) {
    const after = parseEntryId(lastEventId);
    if (after === null) throw new ApiError('invalid_request', 'last-event-id is not the id of an entry.');
    return { after };
  }
  if (query.since !== undefined && query.limit === undefined) return 'first';
  return { newest: query.limit ?? defaultLogLimit };
}

const eventStream = 'text/event-stream; charset=utf-8';

async function stream(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Pick<FollowRequest, 'filter' | 'begin'>,
) {
  const { agents, closing, logSilenceMs = defaultSilenceMs } = context;
  const { accountId } = request.principal;
  const signal = AbortSignal.any([clientGone(reply), closing, keyEnded(context, request, reply)]);
  const batches = await followLog({ agents, accountId, signal, ...asked });

  async function* blocks(): AsyncGenerator<string> {
    try {
      for await (const entries of batches) yield entries.map(eventOf).join('');
    } catch (error) {
      const { code, message } = reportError(context.log, error, request);
      yield `event: error\ndata: ${JSON.stringify(errorBody(code, message))}\n\n`;
    }
  }
  return reply
    .type(eventStream)
    .headers({ 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' })
    .send(Readable.from(withComments(blocks(), logSilenceMs, true)));
}

const eventOf = (entry: Parameters<typeof entryRecord>[0]): string =>
  `id: ${entry.id}\ndata: ${JSON.stringify(entryRecord(entry))}\n\n`;
