/** The rows of the table of bad input about the MCP server. */
import { invalid, invalidJson, noRoute, unauthenticated, wrongMedia, wrongMethod } from './bad-request.ts';
import type { BadRequest, Rest } from './bad-request.ts';

const path = '/v1/mcp';
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const post = (title: string, json: unknown, names: string, rest: Rest = {}): BadRequest => ({
  title: `MCP with ${title}`,
  path,
  json,
  ...invalid,
  names,
  ...rest,
});

export const mcpRequests: readonly BadRequest[] = [
  post('no body', undefined, 'jsonrpc is required'),
  post('a batch', [list], 'body'),
  post('no version of JSON-RPC', { id: 1, method: 'ping' }, 'jsonrpc'),
  post('another version of JSON-RPC', { ...list, jsonrpc: '1.0' }, 'jsonrpc'),
  post('an id that is none', { ...list, id: null }, 'id'),
  post('an endless id', { ...list, id: 'x'.repeat(257) }, 'id'),
  post('no method', { jsonrpc: '2.0', id: 1 }, 'exactly one of method, result and error'),
  post('a method and a result', { ...list, result: {} }, 'exactly one of method, result and error'),
  post('an answer to nothing', { jsonrpc: '2.0', result: {} }, 'id'),
  post('parameters that are a list', { ...list, params: [] }, 'params'),
  post(
    'an endless progress token',
    { ...list, params: { _meta: { progressToken: 'x'.repeat(257) } } },
    'progressToken',
  ),
  post('an unknown field', { ...list, more: 1 }, 'more'),
  post('an unknown revision', list, 'mcp-protocol-version', { headers: { 'mcp-protocol-version': '1999-01-01' } }),
  { title: 'MCP with half a message', path, body: '{"jsonrpc":', ...invalidJson },
  { title: 'MCP as a form', path, body: 'a=b', headers: { 'content-type': 'text/plain' }, ...wrongMedia },
  { title: 'MCP without a key', path, json: list, key: null, ...unauthenticated, code: 'missing_api_key' },
  { title: 'MCP by GET', method: 'GET', path, ...wrongMethod, names: 'POST' },
  { title: 'MCP by DELETE', method: 'DELETE', path, ...wrongMethod, names: 'POST' },
  { title: 'MCP below its path', path: `${path}/x`, json: list, ...noRoute },
];
