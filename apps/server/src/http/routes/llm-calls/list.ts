import { Refusal } from '@lodge/domain';
import { AgentParams, ListLlmCallsQuery, LlmCallList } from '@lodge/contract';
import { InvalidCursorError } from '@lodge/ports';
import type { LlmCallPosition, UsageStore } from '@lodge/ports';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import { callRecord } from './record.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';

const schema = {
  operationId: 'listLlmCalls',
  tags: ['Usage'],
  summary: "List an agent's model calls",
  description: 'Finished ones, newest first, each with its tokens, cost and time. Deleted agents have theirs too.',
  params: AgentParams,
  querystring: ListLlmCallsQuery,
  response: { 200: { ...LlmCallList, 'x-response-description': 'A page of calls.' } },
};

interface Needs {
  readonly usage: Pick<UsageStore, 'knows' | 'calls'>;
  readonly cursors: Cursors;
}

export function listLlmCallsRoute(app: App, { usage, cursors }: Needs): void {
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
      if (!(await usage.knows(accountId, id))) throw new Refusal('agent_not_found', 'No agent has this id.');
      const rows = await usage.calls(id, limit + 1, after);
      const sealed = (last: LlmCallPosition): string | null => cursors.seal('llm-calls', accountId, cursorOf(id, last));
      return pageReply(rows, { limit, record: callRecord, cursorOf: sealed });
    },
  });
}

function cursorOf(agentId: string, { startedAt, id }: LlmCallPosition): string {
  return Buffer.from(`${agentId}.${startedAt.getTime()}.${id}`).toString('base64url');
}

/** Throws `InvalidCursorError` for a text that `cursorOf` did not make for this agent. */
function positionOf(agentId: string, cursor: string): LlmCallPosition {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, agent, milliseconds, id] = /^([a-z0-9]{12})\.(\d{1,15})\.([\w-]{1,64})$/.exec(text) ?? [];
  const position = { startedAt: new Date(Number(milliseconds)), id: id ?? '' };
  if (agent !== agentId || cursorOf(agentId, position) !== cursor) throw new InvalidCursorError();
  return position;
}
