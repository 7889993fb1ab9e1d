import { createHash } from 'node:crypto';
import type { AgentSettings, ChatEndpoint, ChatTurn } from '@lodge/engine/ports';
import { modelFor } from './config.ts';
import { modelHeader } from './gateway.ts';

/** OpenClaw's id of the agent that every guest has. */
const mainAgent = 'main';

/**
 * Where OpenClaw is told who is spoken to (`model`), with which backend model, and in which session. Without a session's
 * key every request begins one of its own.
 */
export function chatTarget(
  { api, contextWindow }: Pick<AgentSettings, 'api' | 'contextWindow'>,
  { conversation }: Pick<ChatTurn, 'conversation'>,
): Pick<ChatEndpoint, 'model' | 'headers'> {
  return {
    model: `openclaw/${mainAgent}`,
    headers: {
      ...modelHeader(modelFor({ api, contextWindow })),
      ...(conversation !== null && { 'x-openclaw-session-key': sessionKey(mainAgent, conversation) }),
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
