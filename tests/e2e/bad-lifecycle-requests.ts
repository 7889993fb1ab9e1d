/** Rows of the table of bad input: what changes an agent's machine or record, and its log. */
import { get, invalid, noAgent, noRoute, noScope } from './bad-request.ts';
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
  patch('a browser without room', { browser: true, size: 'small' }, ['browser', 'medium']),
  patch('its name to blanks', { name: '  ' }, 'name'),
  patch(
    'the key of an unknown provider',
    { llm_keys: [{ provider: 'nobody', api_key: 'sk-secret-1234' }] },
    'provider',
  ),
  patch('its spend limit to nothing', { spend_limit: { action: 'pause' } }, 'spend_limit'),
  patch('its egress to a private address', { egress: { mode: 'allowlist', allow: ['10.0.0.1'] } }, 'egress.allow[0]'),
  patch('its models to one of an unknown provider', { models: ['nobody/m'] }, 'models[0]'),
  {
    title: 'change what has changed meanwhile',
    method: 'PATCH',
    path: '/v1/agents/{id}',
    headers: { 'if-match': '"stale"' },
    json: { name: 'Late' },
    ...stale,
  },
  logs('a log cursor that is not ours', 'cursor=abc', 'cursor'),
  logs('following logs to an end', 'follow=true&until=2026-01-01T00:00:00Z', 'until'),
  events('an event cursor that is not ours', 'cursor=abc', 'cursor'),
  events('events that are not public', 'type=totp.begun', 'type'),
  events('events of no agent id', 'agent_id=7', 'agent_id'),
  events('following events backwards', 'follow=true&direction=desc', 'direction'),
  events('following events to an end', 'follow=true&until=2026-01-01T00:00:00Z', 'until'),
  events('following events from a cursor', 'follow=true&cursor=abc', 'cursor'),
  events('following events behind what is no id', 'follow=true', 'last-event-id', { 'last-event-id': 'x1' }),
  get('logs of an unknown agent', '/v1/agents/aaaaaaaaaaaa/logs', noAgent),
];
