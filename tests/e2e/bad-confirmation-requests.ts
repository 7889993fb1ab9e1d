/** Rows of confirmations in the table of tests/e2e/bad-input.test.ts. */
import { get, invalid, noScope } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const path = '/v1/confirmations';
const none = { status: 404, type: 'not_found_error', code: 'confirmation_not_found' } as const;
const allow = { decision: 'allow' };

export const confirmationRequests: readonly BadRequest[] = [
  get('a confirmation that is not there', `${path}/none`, none),
  get('confirmations in a status that is none', `${path}?status=open`, { ...invalid, names: 'status' }),
  { title: 'decide about a confirmation that is not there', path: `${path}/none`, json: allow, ...none },
  { title: 'decide otherwise', path: `${path}/none`, json: { decision: 'maybe' }, ...invalid, names: 'decision' },
  { title: 'decide nothing', path: `${path}/none`, json: {}, ...invalid, names: 'decision' },
  {
    title: 'decide with a key that reads',
    key: 'read',
    path: `${path}/none`,
    json: allow,
    ...noScope,
  },
];
