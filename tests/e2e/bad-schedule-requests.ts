/** Rows of schedules in the table of tests/e2e/bad-input.test.ts. */
import { get, invalid, noAgent, noScope } from './bad-request.ts';
import type { BadRequest } from './bad-request.ts';

const base = '/v1/agents/{id}/schedules';
const noSchedule = { status: 404, type: 'not_found_error', code: 'schedule_not_found' } as const;
const good = { name: 'S', every: '1h', prompt: 'x' };

const post = (title: string, json: object, names: BadRequest['names']): BadRequest => ({
  title: `make a schedule with ${title}`,
  path: base,
  json,
  ...invalid,
  ...(names !== undefined && { names }),
});
const timing = (title: string, given: object, names: string): BadRequest =>
  post(title, { name: 'S', prompt: 'x', ...given }, names);
const deliver = (title: string, given: unknown, names: string): BadRequest =>
  post(title, { ...good, deliver: given }, names);

export const scheduleRequests: readonly BadRequest[] = [
  post('a blank name', { ...good, name: '  ' }, 'name'),
  timing('no time at all', {}, 'cron, every and at'),
  timing('two kinds of times', { every: '1h', cron: '0 9 * * *' }, 'cron, every and at'),
  timing('a cron of six fields', { cron: '0 0 9 * * *' }, 'cron'),
  timing('a cron by its nickname', { cron: '@daily' }, 'cron'),
  timing('a cron that never comes', { cron: '0 0 31 2 *' }, 'cron'),
  timing('an interval of seconds', { every: '30s' }, 'every'),
  timing('an interval of nothing', { every: '0m' }, 'every'),
  timing('a time that has passed', { at: '2020-01-01T00:00:00Z' }, 'at'),
  timing('a time that is none', { at: 'tomorrow' }, 'at'),
  timing('a day that there is not', { at: '2030-02-30T00:00:00Z' }, 'at'),
  timing('a zone that there is not', { cron: '0 9 * * *', time_zone: 'Mars/Base' }, 'time_zone'),
  timing('an offset as zone', { cron: '0 9 * * *', time_zone: '+02:00' }, 'time_zone'),
  deliver('a delivery to no channel', { to: 'channel' }, 'deliver.channel'),
  deliver('a delivery to an unknown channel', { to: 'channel', channel: 'fax', conversation: 'c' }, 'deliver.channel'),
  deliver('a delivery to no conversation', { to: 'channel', channel: 'slack' }, 'deliver.conversation'),
  deliver(
    'a conversation that never wrote',
    { to: 'channel', channel: 'slack', conversation: 'c' },
    'deliver.conversation',
  ),
  deliver('a channel that it does not go to', { to: 'none', channel: 'slack' }, 'deliver.channel'),
  { ...post('a key that may only read', good, 'agents:write'), ...noScope, key: 'read' },
  { title: 'make a schedule of no agent', path: '/v1/agents/aaaaaaaaaaaa/schedules', json: good, ...noAgent },
  get('a schedule that there is not', `${base}/aaaaaaaaaaaa`, noSchedule),
  get('a schedule by what is no id', `${base}/%00`, noSchedule),
  get('runs of no schedule', `${base}/aaaaaaaaaaaa/runs`, noSchedule),
  { title: 'change no schedule', method: 'PATCH', path: `${base}/aaaaaaaaaaaa`, json: { name: 'x' }, ...noSchedule },
  { title: 'remove no schedule', method: 'DELETE', path: `${base}/aaaaaaaaaaaa`, ...noSchedule },
  { title: 'run no schedule', path: `${base}/aaaaaaaaaaaa/run`, json: {}, ...noSchedule },
];
