import { ConversationHeaders, ChatQuery } from '@lodge/contract';

/** Schema parts of every route that lets an agent take a turn. */
export const turnSchema = { tags: ['Chat'], headers: ConversationHeaders, querystring: ChatQuery };

export const turnConfig = {
  rate: 'calls',
  scopes: ['agents:write', 'agents:chat'],
  errors: [
    'agent_not_found',
    'member_not_found',
    'agent_not_running',
    'agent_transitioning',
    'rate_limit_exceeded',
    'spend_limit_exceeded',
    'loop_detected',
    'quota_exceeded',
    'insufficient_capacity',
    'agent_unavailable',
  ],
} as const;
