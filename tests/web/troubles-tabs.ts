/** Forms that change a record, and what somebody else changes of it while a person types. */
import type { Lodge } from '@lodge/sdk';

export interface SharedCase {
  readonly name: string;
  /** Makes the record. Returns the page of its form. */
  readonly make: (lodge: Lodge, agentId: string) => Promise<string>;
  readonly open?: string;
  readonly typed: readonly [label: string, text: string];
  /** Changes another field than the typed one. */
  readonly other: (lodge: Lodge, agentId: string) => Promise<unknown>;
  readonly save: string;
  readonly saved: string;
  /** Both values as they are in the end. */
  readonly now: (lodge: Lodge, agentId: string) => Promise<readonly unknown[]>;
  readonly want: readonly unknown[];
}

const first = async <T>(page: PromiseLike<{ readonly data: readonly T[] }>): Promise<T> => (await page).data[0]!;
const rule = { methods: ['GET' as const], paths: ['/old'] };
const access = {
  mode: 'pairing' as const,
  allow_from: [],
  per_sender_hourly: 60,
  groups: { mode: 'allowlist' as const, allow: [], require_mention: true },
};

export const shared: readonly SharedCase[] = [
  {
    name: 'a schedule',
    make: async (lodge, id) => {
      const body = { name: 'Daily', cron: '0 7 * * *', prompt: 'Old words' };
      return `$agent/schedules?schedule=${(await lodge.schedules.create(id, body)).id}&form=edit`;
    },
    typed: ['What the agent is told', 'New words'],
    other: async (lodge, id) => {
      const schedule = await first(lodge.schedules.list(id));
      return lodge.schedules.update(id, schedule.id, { name: 'Nightly', cron: '0 22 * * *' });
    },
    save: 'Save schedule',
    saved: 'The schedule is saved.',
    now: async (lodge, id) => {
      const { name, cron, prompt } = await first(lodge.schedules.list(id));
      return [name, cron, prompt];
    },
    want: ['Nightly', '0 22 * * *', 'New words'],
  },
  {
    name: 'a webhook',
    make: () => Promise.resolve('/account/webhooks/$webhook'),
    open: 'Edit',
    typed: ['Description (optional)', 'New words'],
    other: async (lodge) => {
      const { id } = await first(lodge.webhooks.list());
      return lodge.webhooks.update(id, { events: ['message.*'] });
    },
    save: 'Save',
    saved: 'The webhook is changed.',
    now: async (lodge) => {
      const { description, events } = await first(lodge.webhooks.list());
      return [description, events];
    },
    want: ['New words', ['message.*']],
  },
  {
    name: 'a member',
    make: async (lodge, id) => {
      await lodge.members.create(id, { name: 'scribe', instructions: 'Old words' });
      return '$agent/members';
    },
    open: 'Edit scribe',
    typed: ['Instructions (optional)', 'New words'],
    other: (lodge, id) => lodge.members.update(id, 'scribe', { model: 'tryout/echo' }),
    save: 'Save changes',
    saved: 'scribe is changed.',
    now: async (lodge, id) => {
      const { model, instructions } = await first(lodge.members.list(id));
      return [model, instructions];
    },
    want: ['tryout/echo', 'New words'],
  },
  {
    name: 'a connection',
    make: async (lodge, id) => {
      await lodge.connections.put(id, 'notes', { kind: 'http', url: 'https://api.example.com', allow: [rule] });
      return '$agent/connections?connection=notes&form=edit';
    },
    typed: ['Paths', '/new'],
    other: (lodge, id) =>
      lodge.connections.put(id, 'notes', {
        kind: 'http',
        url: 'https://api.example.com',
        allow: [rule],
        enabled: false,
      }),
    save: 'Save connection',
    saved: 'The connection is saved.',
    now: async (lodge, id) => {
      const { enabled, allow } = await first(lodge.connections.list(id));
      return [enabled, allow?.[0]?.paths];
    },
    want: [false, ['/new']],
  },
  {
    name: 'a channel',
    make: async (lodge, id) => {
      await lodge.channels.put(id, 'telegram', { botToken: '99:x', access });
      return '$agent/channels?channel=telegram';
    },
    typed: ['Messages of one person in an hour', '25'],
    other: (lodge, id) => lodge.channels.put(id, 'telegram', { access: { ...access, mode: 'disabled' } }),
    save: 'Save settings',
    saved: 'The settings of Telegram are saved.',
    now: async (lodge, id) => {
      const { access: now } = await first(lodge.channels.list(id));
      return [now.mode, now.per_sender_hourly];
    },
    want: ['disabled', 25],
  },
  {
    name: 'limits of an agent',
    make: async (lodge, id) => {
      await lodge.agents.update(id, { spend_limit: { daily_usd: '1', monthly_usd: '10', action: 'block' } });
      return '$agent/usage';
    },
    open: 'Edit limits',
    typed: ['Monthly limit', '25'],
    other: (lodge, id) =>
      lodge.agents.update(id, { spend_limit: { daily_usd: '2', monthly_usd: '10', action: 'pause' } }),
    save: 'Save limits',
    saved: 'are changed.',
    now: async (lodge, id) => {
      const { spend_limit: limit } = await lodge.agents.get(id);
      return [Number(limit?.daily_usd), Number(limit?.monthly_usd), limit?.action];
    },
    want: [2, 25, 'pause'],
  },
];
