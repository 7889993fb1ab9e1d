import { AgentParams, LogList, LogsHeaders, LogsQuery, defaultLogLimit, LogStreamEvent } from '@lodge/contract';
import { checkAgentId } from '../../reply/agent-record.ts';
import { onReplyOver } from '../../pipeline/client-gone.ts';
import type { App } from '../../app-types.ts';
import { makeCursor, readCursor } from '../../reply/follow/position.ts';
import { beginOf, directionOf } from '../../reply/follow/query.ts';
import { pageReply } from '../../reply/page.ts';
import { timeOf } from '../../pipeline/query.ts';
import { followLog } from './follow/follow.ts';
import { eventStreamType } from '../../reply/event-stream.ts';
import type { StreamNeeds } from '../../reply/follow/stream.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { streamEntries } from '../../reply/follow/stream.ts';
import type { LogFilter } from './follow/follow.ts';
import { Followers } from '../../reply/follow/followers.ts';
import type { Agents } from '@lodge/engine';
import type { LogEntry } from '@lodge/ports';
import type { LogEntry as LogEntryRecord } from '@lodge/contract';

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
      content: { 'application/json': { schema: LogList }, 'text/event-stream': { schema: LogStreamEvent } },
    },
  },
};
const config = { scopes: ['agents:read'], errors: ['agent_not_found', 'rate_limit_exceeded'] } as const;

interface LogsRequest {
  readonly id: string;
  readonly query: LogsQuery;
}

interface Needs extends StreamNeeds {
  readonly agents: Pick<Agents, 'logs' | 'onLog'>;
  readonly cursors: Cursors;
}

export function agentLogsRoute(app: App, context: Needs): void {
  const { agents } = context;
  const followers = new Followers('log');
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
      const begin = beginOf(query, request.headers['last-event-id'], { entry: 'entry', limit: defaultLogLimit });
      checkAgentId(id);
      // There is nothing to follow without a body.
      if (request.method === 'HEAD') return reply.type(eventStreamType).send('');
      onReplyOver(reply, followers.join(request.principal.accountId));
      const { accountId } = request.principal;
      return streamEntries(context, request, reply, {
        follow: (signal) => followLog({ agents, accountId, filter: filterOf(asked), begin, signal }),
        record: entryRecord,
      });
    },
  });
}

async function listPage({ agents, cursors }: Needs, accountId: string, asked: LogsRequest) {
  const { id, query } = asked;
  const { limit = defaultLogLimit } = query;
  const position = query.cursor === undefined ? null : readCursor(id, cursors.open('logs', accountId, query.cursor));
  const direction = directionOf(query, position);
  checkAgentId(id);
  const from = position && { from: position.entry };
  const entries = await agents.logs(accountId, { ...filterOf(asked), ...from, direction, limit: limit + 1 });
  const cursorOf = (last: LogEntry): string | null =>
    cursors.seal('logs', accountId, makeCursor(id, { direction, entry: last.id }));
  return pageReply(entries, { limit, record: entryRecord, cursorOf });
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

/** The public form of a log entry. */
const entryRecord = ({ id, at, level, source, message }: LogEntry): LogEntryRecord => ({
  id: String(id),
  timestamp: at.toISOString(),
  level,
  source,
  message,
});
