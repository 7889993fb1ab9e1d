/** Rows of hooks in the table of tests/e2e/bad-input.test.ts. */
import { get, invalid, noAgent, noRoute, noScope } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const base = '/v1/agents/{id}/hooks';
const noHook = { status: 404, type: 'not_found_error', code: 'hook_not_found' } as const;
const good = { name: 'H' };
const secret = 'shared-secret';

const post = (title: string, json: object, names: string): BadRequest => ({
  title: `make a hook with ${title}`,
  path: base,
  json,
  ...invalid,
  names,
});
const deliver = (title: string, given: unknown, names: string): BadRequest =>
  post(title, { ...good, deliver: given }, names);
const signed = (title: string, signature: unknown, names: string): BadRequest =>
  post(title, { ...good, signature }, names);

export const hookRequests: readonly BadRequest[] = [
  post('a blank name', { name: '  ' }, 'name'),
  post('a token of its own', { ...good, token: 'x' }, 'token'),
  post('a field without an end', { ...good, template: 'a {{b' }, 'template'),
  post('a field without a name', { ...good, template: '{{}}' }, 'template'),
  post('too many fields', { ...good, template: '{{a}}'.repeat(51) }, 'template'),
  deliver('a delivery to no channel', { to: 'channel' }, 'deliver.channel'),
  deliver('a delivery to an unknown channel', { to: 'channel', channel: 'fax', conversation: 'c' }, 'deliver.channel'),
  deliver('a delivery to no conversation', { to: 'channel', channel: 'slack' }, 'deliver.conversation'),
  deliver(
    'a conversation that never wrote',
    { to: 'channel', channel: 'slack', conversation: 'c' },
    'deliver.conversation',
  ),
  deliver('a channel that it does not go to', { to: 'none', channel: 'slack' }, 'deliver.channel'),
  signed('a secret that is not base64', { type: 'standard', secret: 'not base64 at all' }, 'signature.secret'),
  signed('no header', { type: 'hmac', secret }, 'signature.header'),
  signed('a header that is none', { type: 'hmac', secret, header: 'a b' }, 'signature.header'),
  signed('a header of GitHub’s own', { type: 'github', secret, header: 'X-S' }, 'signature.header'),
  signed('an encoding of Stripe’s own', { type: 'stripe', secret, encoding: 'hex' }, 'signature.encoding'),
  signed('an unknown encoding', { type: 'hmac', secret, header: 'X-S', encoding: 'utf8' }, 'signature.encoding'),
  signed('an endless prefix', { type: 'hmac', secret, header: 'X-S', prefix: 'x'.repeat(33) }, 'signature.prefix'),
  { ...post('a key that may only read', good, 'agents:write'), ...noScope, key: 'read' },
  { title: 'make a hook of no agent', path: '/v1/agents/aaaaaaaaaaaa/hooks', json: good, ...noAgent },
  get('messages of no hook', `${base}/aaaaaaaaaaaa/messages`, noHook),
  get('messages of what is no id', `${base}/%00/messages`, noHook),
  { title: 'remove no hook', method: 'DELETE', path: `${base}/aaaaaaaaaaaa`, ...noHook },
  { title: 'send to a token that is none', path: '/v1/hooks/x', json: {}, key: null, ...noRoute },
  { title: 'send to a token that opens nothing', path: `/v1/hooks/${'A'.repeat(43)}`, json: {}, key: null, ...noRoute },
];
