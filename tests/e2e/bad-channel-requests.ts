/** Rows of channels in the table of tests/e2e/bad-input.test.ts. */
import { get, invalid, noAgent, noScope, notRunning } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const base = '/v1/agents/{id}/channels';
const noChannel = { status: 404, type: 'not_found_error', code: 'channel_not_found' } as const;
const noMessage = { status: 404, type: 'not_found_error', code: 'message_not_found' } as const;
const noClient = { status: 409, type: 'invalid_request_error', code: 'gmail_not_configured' } as const;

const put = (title: string, channel: string, json: object, names: BadRequest['names']): BadRequest => ({
  title: `put a channel with ${title}`,
  method: 'PUT',
  path: `${base}/${channel}`,
  json,
  ...invalid,
  ...(names !== undefined && { names }),
});
const post = (
  title: string,
  path: string,
  json: object,
  answer: Omit<BadRequest, 'title' | 'path' | 'json'>,
): BadRequest => ({ title, path: `${base}${path}`, json, ...answer });

export const channelRequests: readonly BadRequest[] = [
  put('no token', 'telegram', {}, 'botToken is required'),
  put('one token of two', 'slack', { botToken: 'xoxb-1' }, 'appToken is required'),
  put('a token that it has no use for', 'discord', { botToken: 'x', appToken: 'y' }, 'appToken'),
  put('a token with a line break', 'telegram', { botToken: 'x\r\nY: z' }, 'botToken'),
  put('an endless token', 'telegram', { botToken: 'x'.repeat(501) }, ['botToken', '500']),
  put('a base address of its own', 'telegram', { botToken: 'x', api_root: 'http://10.0.0.1' }, 'api_root'),
  put('a token that the platform refuses', 'telegram', { botToken: 'bad:x' }, ['botToken', 'not known']),
  { ...put('an unknown name', 'fax', {}, 'slack'), ...noChannel },
  { ...put('a key that may only read', 'whatsapp', {}, 'agents:write'), ...noScope, key: 'read' },
  {
    ...put('an unknown agent', 'whatsapp', {}, undefined),
    path: '/v1/agents/aaaaaaaaaaaa/channels/whatsapp',
    ...noAgent,
  },
  get('a channel that there is not', `${base}/fax`, noChannel),
  get('approvals of a channel that was never put', `${base}/slack/approvals`, noChannel),
  get('a pairing that nobody began', `${base}/whatsapp/pair`, noChannel),
  { title: 'remove a channel that was never put', method: 'DELETE', path: `${base}/slack`, ...noChannel },
  post('restart a channel that was never put', '/slack/restart', {}, noChannel),
  post('test a channel that was never put', '/slack/test', {}, noChannel),
  post('approve without a code', '/slack/approvals', { action: 'approve' }, { ...invalid, names: 'code is required' }),
  post('pair an agent that does not run', '/whatsapp/pair', {}, notRunning),
  post('pair by a word', '/whatsapp/pair', { phone_number: 'mine' }, { ...invalid, names: 'phone_number' }),
  post('consent without a Google client', '/gmail/oauth/start', {}, noClient),
  post(
    'consent that leads to a script',
    '/gmail/oauth/start',
    { redirect_url: 'javascript:alert(1)' },
    {
      ...invalid,
      names: 'redirect_url',
    },
  ),
  { title: 'retry a message that there is not', path: '/v1/agents/{id}/messages/none/retry', json: {}, ...noMessage },
  { title: 'retry a message with SQL', path: "/v1/agents/{id}/messages/' or 1=1/retry", json: {}, ...noMessage },
];
