/** Changes that one person makes while another looks at the page that shows them. */
import type { Locator, Page } from 'playwright-core';

export type ChangeRequest = readonly ['POST' | 'PUT' | 'PATCH', path: string, body: object];

export interface Change {
  /** The page's link and its heading. */
  readonly page: string;
  /** Seen before the change. */
  readonly before: string | RegExp;
  readonly request: ChangeRequest;
  readonly after: (page: Page) => Locator;
}

const shown =
  (text: string) =>
  (page: Page): Locator =>
    page.getByText(text, { exact: true }).first();

const schedule = { name: 'Morning report', cron: '0 9 * * 1-5', prompt: 'What happened?', deliver: { to: 'none' } };
const notes = { kind: 'http', url: 'https://example.com/', allow: [{ methods: ['GET'], paths: ['/notes/*'] }] };
const telegram = { botToken: '1234567:abcdefghijklmnopqrstuvwxyz012345678', enabled: false };

/** One of each kind of record that the pages of an agent show. */
export const agentChanges = (id: string): readonly Change[] => {
  const agent = `/v1/agents/${id}`;
  return [
    {
      page: 'Schedules',
      before: /^No schedule/,
      request: ['POST', `${agent}/schedules`, schedule],
      after: shown('Morning report'),
    },
    {
      page: 'Hooks',
      before: /^No hook/,
      request: ['POST', `${agent}/hooks`, { name: 'Issues of Ada', template: 'Triage {{title}}' }],
      after: shown('Issues of Ada'),
    },
    {
      page: 'Connections',
      before: /^No connection/,
      request: ['PUT', `${agent}/connections/notes`, notes],
      after: shown('notes'),
    },
    {
      page: 'Snapshots',
      before: /^No snapshot/,
      request: ['POST', `${agent}/snapshots`, { name: 'before the move' }],
      after: shown('before the move'),
    },
    {
      page: 'Members',
      before: /^No member/,
      request: ['POST', `${agent}/members`, { name: 'researcher' }],
      after: shown('members/researcher'),
    },
    {
      page: 'Ports',
      before: /^No port/,
      request: ['POST', `${agent}/ports`, { port: 8123, public: true }],
      after: (page) => page.getByText('8123').first(),
    },
    {
      page: 'Channels',
      before: 'Telegram',
      request: ['PUT', `${agent}/channels/telegram?verify=false`, telegram],
      after: (page) => page.getByRole('listitem').filter({ hasText: 'Telegram' }).getByText('Off', { exact: true }),
    },
    {
      page: 'Egress',
      before: 'Every public address',
      request: ['PATCH', agent, { egress: { mode: 'allowlist', allow: ['pypi.org'] } }],
      after: (page) => page.getByRole('textbox', { name: 'Allow list' }),
    },
  ];
};

/** And of those of the account. */
export const accountChanges: readonly Change[] = [
  {
    page: 'Webhooks',
    before: /^No webhook/,
    request: ['POST', '/v1/webhooks', { url: 'https://example.com/events', events: ['usage.*'] }],
    after: shown('https://example.com/events'),
  },
  {
    page: 'People',
    before: /^No invitation/,
    request: ['POST', '/v1/account/invitations', { email: 'grace@example.test', role: 'member' }],
    after: shown('grace@example.test'),
  },
];

/** Makes a change as the person who is signed in in a page's browser. */
export async function changeIn(page: Page, origin: string, [method, path, body]: ChangeRequest): Promise<void> {
  const { request } = page.context();
  const session = (await (await request.get(`${origin}/v1/account/session`)).json()) as { csrf_token: string };
  const headers = { 'x-csrf-token': session.csrf_token, origin };
  const reply = await request.fetch(`${origin}${path}`, { method, headers, data: body });
  if (!reply.ok()) throw new Error(`${method} ${path}: ${reply.status()} ${await reply.text()}`);
}
