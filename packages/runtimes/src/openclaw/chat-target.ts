import { createHash } from 'node:crypto';
import type { AgentSettings, ChatEndpoint, ChatTurn } from '@lodge/ports';
import { mainAgent, modelFor } from './config.ts';
import { modelHeader } from './gateway.ts';
import type { OpenclawFacts } from './gateway.ts';

/**
 * Returns the parts of a request that tell OpenClaw the addressee (`model`), the backend model and the session. Without a
 * session key every request begins a new session. OpenClaw assumes that a member's own model takes no pictures.
 */
export function chatTarget(
  settings: AgentSettings,
  { apis, pictures }: Pick<OpenclawFacts, 'apis' | 'pictures'>,
  { member: name, conversation, pictures: hasPictures }: ChatTurn,
): Pick<ChatEndpoint, 'model' | 'headers' | 'takesPictures'> {
  const member = settings.members.find((candidate) => candidate.name === name);
  const { api, contextWindow } = member ?? settings;
  // A guest of an older template has no such provider, but every provider speaks this API too.
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

/**
 * Returns the session key that OpenClaw would derive from `user` in a chat completion. For responses it would derive
 * another.
 */
function sessionKey(agent: string, conversation: string): string {
  return `agent:${agent}:openai-user:${plain.test(conversation) ? conversation : `~${hash(conversation)}`}`;
}

/** Text that fits into a header and stays the same in lower case. */
const plain = /^[a-z0-9._:@-]{1,128}$/;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
