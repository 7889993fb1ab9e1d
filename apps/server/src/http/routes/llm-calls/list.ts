import { AgentParams, ListLlmCallsQuery, LlmCallList } from '@lodge/contract';
import { InvalidCursorError } from '@lodge/engine/ports';
import type { LlmCallPosition } from '@lodge/engine/ports';
import { checkAgentId } from '../../agent-record.ts';
import type { App, HttpContext } from '../../context.ts';
import { ApiError } from '../../errors.ts';
import { callRecord } from './record.ts';

const schema = {
  operationId: 'listLlmCalls',
  tags: ['Usage'],
  summary: "List an agent's model calls",
  description: 'Finished ones, newest first, each with its tokens, cost and time. Deleted agents have theirs too.',
  params: AgentParams,
  querystring: ListLlmCallsQuery,
  response: { 200: { ...LlmCallList, 'x-response-description': 'A page of calls.' } },
};

export function listLlmCallsRoute(app: App, { usage, cursors }: HttpContext): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/llm-calls',
    schema,
    config: { scopes: ['usage:read'], errors: ['agent_not_found'] },
    handler: async (request) => {
      const { id } = request.params;
      const { limit = 100, cursor } = request.query;
      const { accountId } = request.principal;
      const after = cursor === undefined ? null : positionOf(id, cursors.open('llm-calls', accountId, cursor));
      checkAgentId(id);
      if (!(await usage.knows(accountId, id))) throw new ApiError('agent_not_found', 'No agent has this id.');
      // One more than asked for tells whether there is more.
      const rows = await usage.calls(id, limit + 1, after);
      const page = rows.slice(0, limit);
      const hasMore = rows.length > limit;
      return {
        object: 'list' as const,
        data: page.map(callRecord),
        has_more: hasMore,
        next_cursor: hasMore ? cursors.seal('llm-calls', accountId, cursorOf(id, page.at(-1)!)) : null,
      };
    },
  });
}

function cursorOf(agentId: string, { startedAt, id }: LlmCallPosition): string {
  return Buffer.from(`${agentId}.${startedAt.getTime()}.${id}`).toString('base64url');
}

/** Throws `InvalidCursorError` for anything `cursorOf` would not have written for this agent. */
function positionOf(agentId: string, cursor: string): LlmCallPosition {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, agent, milliseconds, id] = /^([a-z0-9]{12})\.(\d{1,15})\.([\w-]{1,64})$/.exec(text) ?? [];
  const position = { startedAt: new Date(Number(milliseconds)), id: id ?? '' };
  if (agent !== agentId || cursorOf(agentId, position) !== cursor) throw new InvalidCursorError();
  return position;
}
