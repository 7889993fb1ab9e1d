import { createHash } from 'node:crypto';
import type { AgentSettings, ChatEndpoint, ChatTurn } from '@lodge/ports';
import { mainAgent, modelFor } from './config.ts';
import type { OpenclawFacts } from './facts.ts';
import { modelHeader } from './gateway.ts';

/**
 * Where OpenClaw is told who is spoken to (`model`), with which backend model, and in which session. Without a session's
 * key every request begins one of its own. Of a member's own model OpenClaw takes it that it sees nothing.
 */
export function chatTarget(
  settings: AgentSettings,
  { apis, pictures }: Pick<OpenclawFacts, 'apis' | 'pictures'>,
  { member: name, conversation, pictures: hasPictures }: ChatTurn,
): Pick<ChatEndpoint, 'model' | 'headers' | 'takesPictures'> {
  const member = settings.members.find((candidate) => candidate.name === name);
  const { api, contextWindow } = member ?? settings;
  // A guest of an older template: providers speak this one too.
  const spoken = apis.includes(api) ? api : 'openai-completions';
  const agent = member?.name ?? mainAgent;
  const model = member?.model ?? null;
  const takesPictures = pictures && model === null;
  return {
    model: `openclaw/${agent}`,
    headers: {
      ...modelHeader(modelFor({ api: spoken, contextWindow, model, pictures: hasPictures && takesPictures })),
      ...(conversation !== null && { 'x-openclaw-session-key': sessionKey(agent, conversation) }),
    },
    takesPictures,
  };
}

/** What OpenClaw would make of `user` in a chat completion, where its own name is as good; for responses it would take another. */
function sessionKey(agent: string, conversation: string): string {
  return `agent:${agent}:openai-user:${plain.test(conversation) ? conversation : `~${hash(conversation)}`}`;
}

/** What can be in a header, and is the same in lower case. */
const plain = /^[a-z0-9._:@-]{1,128}$/;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
