import assert from 'node:assert/strict';
import type { StubRequest } from '@lodge/testkit/llm';
import type { Reply } from '@lodge/testkit/service';
import type { Tested } from './world.ts';

/** Calls the API, and expects a good reply. */
export const callsOf =
  ({ world: { service } }: Pick<Tested, 'world'>) =>
  async (method: string, path: string, body?: object): Promise<Reply> => {
    const reply = await service.call(method, path, body);
    assert.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply.body)}\n${service.output.slice(-3_000)}`);
    return reply;
  };

/** The end of a request: what its conversation has after the last answer. */
export function lastSaid({ body }: StubRequest): string {
  const { messages } = body as { messages: { role: string }[] };
  return JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1));
}
