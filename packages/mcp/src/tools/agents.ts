import * as z from 'zod';
import { agentId, cursor, limitOf, nextCursor } from '../inputs.ts';
import { adds, destroys, reads, sets, tool } from '../tool.ts';
import type { Means, Tool } from '../tool.ts';
import { agentRecord, agentSummary, recordOf, summaryOf } from './agent-record.ts';

/** Names of models that a chat-only key sees instead of agents' records. */
const maxNames = 200;

const listAgents = tool({
  name: 'list_agents',
  title: 'List agents',
  description:
    'Lists the AI agents of the account, newest first: id, name, status and model. Start here to find the id of an agent; get_agent has more about one.',
  scopes: ['agents:read', 'agents:chat'],
  annotations: reads,
  doing: 'Lists agents',
  input: z.strictObject({
    name: z.string().min(1).max(100).optional().describe('Only agents whose name contains this, in any case.'),
    status: z
      .enum(['provisioning', 'running', 'paused', 'stopped', 'error'])
      .optional()
      .describe('Only agents in this status.'),
    limit: limitOf(50, 20, 'agents'),
    cursor,
  }),
  output: z.object({
    agents: z.array(agentSummary.partial().required({ id: true, name: true })),
    next_cursor: nextCursor,
  }),
  run: async ({ name, status, limit, cursor }, means) => {
    const { lodge, signal, has } = means;
    if (!has('agents:read')) return { structured: await named(means) };
    const query = { limit, ...(name && { name }), ...(status && { status }), ...(cursor && { cursor }) };
    const page = await lodge.agents.list(query, { signal });
    return { structured: { agents: page.data.map(summaryOf), next_cursor: page.next_cursor } };
  },
});

/** A key that may only talk to agents sees them as models. */
async function named({ lodge, signal }: Means): Promise<{ agents: { id: string; name: string }[]; next_cursor: null }> {
  const { data } = await lodge.models.list({ signal });
  const agents = data.filter(({ id }) => !id.includes('/')).slice(0, maxNames);
  return { agents: agents.map(({ id, name }) => ({ id, name })), next_cursor: null };
}

const getAgent = tool({
  name: 'get_agent',
  title: 'Get an agent',
  description: 'Reads one agent: its status and why, model, instructions, size, and the providers it has keys for.',
  scopes: ['agents:read'],
  annotations: reads,
  doing: 'Reads the agent',
  input: z.strictObject({ agent_id: agentId }),
  output: agentRecord,
  run: async ({ agent_id }, { lodge, signal }) => ({
    structured: recordOf(await lodge.agents.get(agent_id, { signal })),
  }),
});

const fields = {
  name: z.string().min(1).max(100).describe('Display name.'),
  model: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Such as anthropic/claude-sonnet-5. Without it the deployment chooses.'),
  description: z.string().max(2000).optional().describe('A label for people.'),
  instructions: z
    .string()
    .max(16_384)
    .optional()
    .describe('Who the agent is and how it works: its standing instructions.'),
};

const createAgent = tool({
  name: 'create_agent',
  title: 'Create an agent',
  description:
    'Creates an AI agent in a virtual machine of its own and waits until it runs, which costs money. It takes no key of an LLM provider, because a key must not pass through a model: without a key from the deployment, a person gives the new agent one in the dashboard or with the `lodge` command.',
  scopes: ['agents:write'],
  annotations: adds,
  doing: 'Creates the agent',
  input: z.strictObject({
    ...fields,
    size: z.enum(['small', 'medium', 'large']).optional().describe('Size of its machine; medium by default.'),
  }),
  output: agentRecord.extend({ hint: z.string().optional() }),
  run: async (body, { lodge, signal }) => {
    const agent = recordOf(await lodge.agents.create(body, { signal }));
    return { structured: agent.llm_key_providers.length > 0 ? agent : { ...agent, hint: keyHint } };
  },
});

const keyHint =
  'The agent has no key of an LLM provider. Unless the deployment has one for its model, a person adds it in the dashboard or with the `lodge` command. Do not ask for a key in this conversation.';

const updateAgent = tool({
  name: 'update_agent',
  title: 'Change an agent',
  description:
    'Changes the name, model, description or instructions of an agent. Each field that is given replaces the one there is; others stay.',
  scopes: ['agents:write'],
  // The values before are gone.
  annotations: destroys,
  doing: 'Changes the agent',
  input: z.strictObject({ agent_id: agentId, ...fields, name: fields.name.optional() }),
  output: agentRecord,
  run: async ({ agent_id, ...body }, { lodge, signal }) => ({
    structured: recordOf(await lodge.agents.update(agent_id, body, { signal })),
  }),
});

const deleteAgent = tool({
  name: 'delete_agent',
  title: 'Delete an agent',
  description:
    'Deletes an agent for good, with its machine, files, schedules and conversations. Nothing brings it back: ask your user first.',
  scopes: ['agents:delete'],
  annotations: destroys,
  doing: 'Deletes the agent',
  input: z.strictObject({ agent_id: agentId }),
  output: z.object({ id: z.string(), deleted: z.literal(true) }),
  run: async ({ agent_id }, { lodge, signal }) => {
    const { id } = await lodge.agents.delete(agent_id, { signal });
    return { structured: { id, deleted: true as const } };
  },
});

const verbs = [
  ['start', 'Starts', 'Starts a stopped agent and waits until it runs, which costs money.', sets],
  [
    'stop',
    'Stops',
    'Stops an agent: its machine is saved and shut down, and work under way ends. Files are kept.',
    destroys,
  ],
  ['pause', 'Pauses', 'Pauses a running agent: its machine sleeps with its memory kept, and a message wakes it.', sets],
  ['resume', 'Resumes', 'Wakes a paused agent and waits until it runs.', sets],
  ['restart', 'Restarts', 'Restarts the machine of an agent. Work under way ends; files are kept.', destroys],
] as const;

const verbTools = verbs.map(([verb, doing, description, annotations]) =>
  tool({
    name: `${verb}_agent`,
    title: `${verb[0]!.toUpperCase()}${verb.slice(1)} an agent`,
    description,
    scopes: ['agents:write'],
    annotations: { ...annotations, idempotentHint: verb !== 'restart' },
    doing: `${doing} the agent`,
    input: z.strictObject({ agent_id: agentId }),
    output: agentSummary,
    run: async ({ agent_id }, { lodge, signal }) => ({
      structured: summaryOf(await lodge.agents[verb](agent_id, {}, { signal })),
    }),
  }),
);

export const agentTools: readonly Tool[] = [listAgents, getAgent, createAgent, updateAgent, ...verbTools, deleteAgent];
