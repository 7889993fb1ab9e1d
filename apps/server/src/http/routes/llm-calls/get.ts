import { Refusal } from '@lodge/domain';
import { LlmCallDetail, LlmCallParams } from '@lodge/contract';
import { callContentContext } from '@lodge/ports';
import type { CallContent, LlmCallDetail as Detail, SecretBox, UsageStore } from '@lodge/ports';
import { checkAgentId } from '../../reply/agent-record.ts';
import type { App } from '../../app-types.ts';
import { callRecord } from './record.ts';

const schema = {
  operationId: 'getLlmCall',
  tags: ['Usage'],
  summary: "Read one of an agent's model calls",
  description:
    'With what was said in it, where the account had its model calls recorded: `record_llm_calls` of the account, off by default. Provider keys are never in it.',
  params: LlmCallParams,
  response: { 200: { ...LlmCallDetail, 'x-response-description': 'The call.' } },
};

interface Needs {
  readonly usage: Pick<UsageStore, 'knows' | 'call'>;
  /** Opens contents; without it none are shown. */
  readonly secrets?: SecretBox;
}

export function getLlmCallRoute(app: App, { usage, secrets }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/llm-calls/:call_id',
    schema,
    config: { scopes: ['usage:read'], errors: ['agent_not_found', 'llm_call_not_found'] },
    handler: async (request) => {
      const { id, call_id: callId } = request.params;
      checkAgentId(id);
      if (!(await usage.knows(request.principal.accountId, id))) {
        throw new Refusal('agent_not_found', 'No agent has this id.');
      }
      const row = /^[\w-]{1,64}$/.test(callId) ? await usage.call(id, callId) : null;
      if (!row) throw new Refusal('llm_call_not_found', 'The agent made no such model call.');
      return { ...callRecord(row), content: secrets ? contentOf(row, secrets) : null };
    },
  });
}

function contentOf({ id, content }: Detail, secrets: SecretBox) {
  if (content === null) return null;
  const { request, response } = JSON.parse(secrets.open(content.sealed, callContentContext(id))) as CallContent;
  return { request, response, truncated: content.truncated };
}
