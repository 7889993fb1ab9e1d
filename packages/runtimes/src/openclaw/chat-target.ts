import { createHash } from 'node:crypto';
import type { AgentSettings, ChatEndpoint, ChatTurn, LlmApi } from '@lodge/ports';
import { mainAgent, modelFor } from './config.ts';
import { modelHeader } from './gateway.ts';

/**
 * Where OpenClaw is told who is spoken to (`model`), with which backend model, and in which session. Without a session's
 * key every request begins one of its own. `apis` are those that the guest is configured for.
 */
export function chatTarget(
  settings: AgentSettings,
  apis: readonly LlmApi[],
  { member: name, conversation }: ChatTurn,
): Pick<ChatEndpoint, 'model' | 'headers'> {
  const member = settings.members.find((candidate) => candidate.name === name);
  const { api, contextWindow } = member ?? settings;
  // A guest of an older template: providers speak this one too.
  const spoken = apis.includes(api) ? api : 'openai-completions';
  const agent = member?.name ?? mainAgent;
  return {
    model: `openclaw/${agent}`,
    headers: {
      ...modelHeader(modelFor({ api: spoken, contextWindow, model: member?.model ?? null })),
      ...(conversation !== null && { 'x-openclaw-session-key': sessionKey(agent, conversation) }),
    },
  };
}

/** What OpenClaw would make of `user` in a chat completion, where its own name is as good; for responses it would take another. */
function sessionKey(agent: string, conversation: string): string {
  return `agent:${agent}:openai-user:${plain.test(conversation) ? conversation : `~${hash(conversation)}`}`;
}

/** What can be in a header, and is the same in lower case. */
const plain = /^[a-z0-9._:@-]{1,128}$/;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
