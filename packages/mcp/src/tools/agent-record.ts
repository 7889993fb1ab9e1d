/** An agent as tools show it: what a model needs, in bounds. No key, no address that opens anything. */
import type { Agent } from '@lodge/sdk';
import * as z from 'zod';
import { cutText } from '../text.ts';

const maxInstructionsBytes = 8 * 1024;
const maxDescriptionBytes = 400;

export const agentSummary = z.object({
  id: z.string(),
  name: z.string().describe('Chosen by whoever made the agent.'),
  description: z.string().nullable(),
  status: z.string().describe('Such as running, paused, stopped, provisioning or error.'),
  status_reason: z.string().nullable(),
  model: z.string(),
  last_active_at: z.string().nullable(),
});

export const agentRecord = agentSummary.extend({
  instructions: z.string().nullable().describe('Who the agent is and how it works; long ones are cut.'),
  transition: z.string().nullable().describe('The change of its machine that is under way.'),
  runtime_kind: z.string(),
  size: z.string(),
  upgrade_available: z.boolean(),
  llm_key_providers: z.array(z.string()).describe('LLM providers that it has a key for.'),
  channels: z.array(z.string()).describe('Messaging platforms that it answers on, with their status.'),
  created_at: z.string(),
});

const cut = (text: string, maxBytes: number): string => {
  const { text: kept, isCut } = cutText(text, maxBytes);
  return isCut ? `${kept} [… cut]` : kept;
};

export function summaryOf(agent: Agent): z.output<typeof agentSummary> {
  const { id, name, description, status, status_reason, model, last_active_at } = agent;
  return {
    id,
    name: cut(name, maxDescriptionBytes),
    description: description === null ? null : cut(description, maxDescriptionBytes),
    status,
    status_reason: status_reason === null ? null : cut(status_reason.message, maxDescriptionBytes),
    model,
    last_active_at,
  };
}

export function recordOf(agent: Agent): z.output<typeof agentRecord> {
  const { instructions, transition, runtime_kind, size, upgrade_available, llm_keys, channels, created_at } = agent;
  return {
    ...summaryOf(agent),
    instructions: instructions === null ? null : cut(instructions, maxInstructionsBytes),
    transition: transition?.kind ?? null,
    runtime_kind,
    size,
    upgrade_available,
    llm_key_providers: llm_keys.map(({ provider }) => provider),
    channels: channels.map(({ channel, status }) => `${channel}: ${status}`),
    created_at,
  };
}
