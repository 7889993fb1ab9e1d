/** Rows of the table of bad input: what changes an agent's machine or record, and its log. */
import { chat, get, invalid, messages, noAgent, noRoute, noScope } from './bad-request.ts';
import type { BadRequest, Rest } from './bad-request.ts';

const verb = (
  title: string,
  rest: Rest,
  answer: Pick<BadRequest, 'status' | 'type' | 'code' | 'names'>,
): BadRequest => ({
  title,
  path: '/v1/agents/{id}/stop',
  ...rest,
  ...answer,
});
const transitioning = { status: 409, type: 'invalid_request_error', code: 'agent_transitioning' } as const;
const stale = { status: 412, type: 'invalid_request_error', code: 'precondition_failed' } as const;
const patch = (title: string, json: unknown, names: BadRequest['names']): BadRequest => ({
  title: `change ${title}`,
  method: 'PATCH',
  path: '/v1/agents/{id}',
  json,
  ...invalid,
  ...(names !== undefined && { names }),
});
const events = (title: string, query: string, names: string, headers: Record<string, string> = {}): BadRequest =>
  get(title, `/v1/events?${query}`, { ...invalid, names, headers });
const logs = (title: string, query: string, names: string, headers: Record<string, string> = {}): BadRequest =>
  get(title, `/v1/agents/{id}/logs?${query}`, { ...invalid, names, headers });
export const lifecycleRequests: readonly BadRequest[] = [
  verb('a stop by force', { json: { force: true } }, { ...invalid, names: 'force' }),
  verb('a wait that is neither', { path: '/v1/agents/{id}/stop?wait=no' }, { ...invalid, names: 'wait' }),
  verb('a stop while it is made', {}, transitioning),
  verb('a pause while it is made', { path: '/v1/agents/{id}/pause' }, transitioning),
  verb('a verb there is none of', { path: '/v1/agents/{id}/hibernate' }, noRoute),
  verb('a start of nobody', { path: '/v1/agents/aaaaaaaaaaaa/start' }, noAgent),
  verb(
    'a start without the scope',
    { path: '/v1/agents/{id}/start', key: 'read' },
    { ...noScope, names: 'agents:write' },
  ),
  patch('its kind', { runtime_kind: 'runtime_b' }, 'runtime_kind'),
  patch('a dashboard for runtime_a', { dashboard: true }, ['dashboard', 'runtime_b']),
  patch('its name to nothing', { name: null }, 'name'),
  patch('its name to blanks', { name: '  ' }, 'name'),
  patch('its keys to a word', { llm_keys: 'none' }, 'llm_keys'),
  patch(
    'the key of an unknown provider',
    { llm_keys: [{ provider: 'nobody', api_key: 'sk-secret-1234' }] },
    'provider',
  ),
  patch('its size to an unknown one', { size: 'huge' }, 'size'),
  patch('its spend limit to nothing', { spend_limit: { action: 'pause' } }, 'spend_limit'),
  patch('its spend limit to a number', { spend_limit: { daily_usd: 1, action: 'pause' } }, 'spend_limit.daily_usd'),
  patch('its egress to a word', { egress: 'none' }, 'egress'),
  patch('its egress to a private address', { egress: { mode: 'allowlist', allow: ['10.0.0.1'] } }, 'egress.allow[0]'),
  patch('its models to one of an unknown provider', { models: ['nobody/m'] }, 'models[0]'),
  patch('a field there is none of', { colour: 'red' }, 'colour'),
  patch('its idle time to less than none', { lifecycle: { idle_timeout_seconds: -1 } }, 'idle_timeout_seconds'),
  {
    title: 'change what has changed meanwhile',
    method: 'PATCH',
    path: '/v1/agents/{id}',
    headers: { 'if-match': '"stale"' },
    json: { name: 'Late' },
    ...stale,
  },
  logs('more log entries than there may be', 'limit=1001', 'limit'),
  logs('a log cursor that is not ours', 'cursor=abc', 'cursor'),
  logs('logs since a day there is none of', 'since=2026-02-30T00:00:00Z', 'since'),
  logs('logs of an unknown level', 'level=fatal', 'level'),
  logs('logs of an unknown source', 'source=kitchen', 'source'),
  logs('following logs to an end', 'follow=true&until=2026-01-01T00:00:00Z', 'until'),
  events('more events than there may be', 'limit=1001', 'limit'),
  events('no events at all', 'limit=0', 'limit'),
  events('an event cursor that is not ours', 'cursor=abc', 'cursor'),
  events('an empty event cursor', 'cursor=', 'cursor'),
  events('events since a day there is none of', 'since=2026-02-30T00:00:00Z', 'since'),
  events('events until noon', 'until=noon', 'until'),
  events('events of an unknown type', 'type=agent.exploded', 'type'),
  events('events that are not public', 'type=session.created', 'type'),
  events('events of no agent id', 'agent_id=7', 'agent_id'),
  events('events in a third direction', 'direction=up', 'direction'),
  events('following events backwards', 'follow=true&direction=desc', 'direction'),
  events('following events to an end', 'follow=true&until=2026-01-01T00:00:00Z', 'until'),
  events('following events from a cursor', 'follow=true&cursor=abc', 'cursor'),
  events('following events behind what is no id', 'follow=true', 'last-event-id', { 'last-event-id': 'x1' }),
  events('events by a misspelt parameter', 'agentid=x', 'agentid'),
  get('logs of an unknown agent', '/v1/agents/aaaaaaaaaaaa/logs', noAgent),
  chat(
    'a wake that is neither',
    { messages },
    { ...invalid, path: '/v1/agents/{id}/chat/completions?wake=1', names: 'wake' },
  ),
];
