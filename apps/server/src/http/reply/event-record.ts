import type { Event } from '@lodge/contract';
import type { EventRow } from '@lodge/ports';

/** The public form of an event. What it was done to, where that is no agent, is among its data: `api_key_id`. */
export const eventRecord = ({ id, type, at, agentId, data, target }: EventRow): Event => ({
  object: 'event',
  id: String(id),
  type,
  created_at: at.toISOString(),
  agent_id: agentId,
  data: { ...data, ...(target && { [`${target.kind}_id`]: target.id }) },
});
