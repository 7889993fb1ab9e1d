/**
 * The host's tools during a template's warm-up: one tool, which answers at once. A clone lists its own agent's tools with
 * its first turn. Streamable HTTP without sessions and streams, as the host answers agents.
 */
import { warmupAnswer } from './warmup-wires.ts';

export const warmupTool = 'usage_now';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the reply to a client's JSON-RPC message; null for a notification, which has none. */
export function mcpReply({ id, method, params }: Fields): object | null {
  if (id === undefined) return null;
  const result = resultOf(method, params as Fields | undefined);
  if (result === null) return { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } };
  return { jsonrpc: '2.0', id, result };
}

function resultOf(method: unknown, params: Fields | undefined): object | null {
  if (method === 'initialize') {
    return {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'warm-up', version: '1' },
    };
  }
  if (method === 'tools/list') {
    const inputSchema = { type: 'object', properties: {} };
    return { tools: [{ name: warmupTool, description: 'Answers pong.', inputSchema }] };
  }
  if (method === 'tools/call') return { content: [{ type: 'text', text: warmupAnswer }] };
  return method === 'ping' ? {} : null;
}
