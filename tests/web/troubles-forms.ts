/** Every form of the dashboard: where it is, what a person types, and how it is saved. */
import type { Locator, Page } from 'playwright-core';
import { buttonIn, fieldIn } from './actions.ts';

export interface FormCase {
  readonly name: string;
  readonly path: string;
  /** The button that opens it, where it is a dialog. */
  readonly open?: string;
  /** The form's name, where its page has several. */
  readonly within?: string;
  /** Choices before anything is typed, by their labels. */
  readonly choose?: readonly string[];
  /** A choice from a list. */
  readonly select?: readonly [label: string, value: string];
  readonly texts: Readonly<Record<string, string>>;
  /** A secret's label and text. */
  readonly secret?: readonly [label: string, text: string];
  readonly save: string;
  readonly request: { readonly method: string; readonly path: string };
  /** Words that say that it is saved; none where saving needs others. */
  readonly saved?: string;
}

const agent = '/v1/agents/';

export const forms: readonly FormCase[] = [
  {
    name: 'a key',
    path: '/account/keys',
    open: 'Create New Key',
    choose: ['agents:read'],
    texts: { Name: 'A name that took long' },
    save: 'Create key',
    request: { method: 'POST', path: '/v1/account/keys' },
    saved: 'Copy your key now',
  },
  {
    name: 'an invitation',
    path: '/account/people',
    open: 'Invite someone',
    texts: { 'E-mail (optional)': 'grace@example.test' },
    save: 'Make link',
    request: { method: 'POST', path: '/v1/account/invitations' },
    saved: 'Send this link',
  },
  {
    name: 'a webhook',
    path: '/account/webhooks',
    open: 'Create webhook',
    choose: ['message.*'],
    texts: { URL: 'http://127.0.0.1:9/new', 'Description (optional)': 'Tells the desk' },
    save: 'Create webhook',
    request: { method: 'POST', path: '/v1/webhooks' },
    saved: 'Copy the secret',
  },
  {
    name: 'a change of a webhook',
    path: '/account/webhooks/$webhook',
    open: 'Edit',
    texts: { 'Description (optional)': 'Tells the other desk' },
    save: 'Save',
    request: { method: 'PATCH', path: '/v1/webhooks/' },
    saved: 'The webhook is changed.',
  },
  {
    name: 'limits',
    path: '/account/usage',
    open: 'Edit limits',
    texts: { 'Daily limit': '12.50' },
    save: 'Save limits',
    request: { method: 'PUT', path: '/spend-limit' },
    saved: 'are changed.',
  },
  {
    name: 'limits of an agent',
    path: '$agent/usage',
    open: 'Edit limits',
    texts: { 'Monthly limit': '99' },
    save: 'Save limits',
    request: { method: 'PATCH', path: agent },
    saved: 'are changed.',
  },
  {
    name: 'a new agent',
    path: '/agents/new',
    select: ['Provider', 'anthropic'],
    texts: { Name: 'Willow', 'Instructions (optional)': 'You water the plants.' },
    secret: ['API key of Anthropic', 'sk-ant-never-kept'],
    save: 'Create agent',
    request: { method: 'POST', path: '/v1/agents' },
  },
  {
    name: 'settings',
    path: '$agent/settings',
    within: 'About',
    texts: { 'Description (optional)': 'Waters the plants' },
    save: 'Save',
    request: { method: 'PATCH', path: agent },
    saved: 'About: saved.',
  },
  {
    name: 'a channel',
    path: '$agent/channels?channel=telegram',
    texts: { 'Messages of one person in an hour': '25' },
    secret: ['Bot token', '77:never-kept'],
    save: 'Set up Telegram',
    request: { method: 'PUT', path: '/channels/telegram' },
    saved: 'Telegram is set up.',
  },
  {
    name: 'a schedule',
    path: '$agent/schedules?form=add',
    texts: { Name: 'Morning report', 'What the agent is told': 'Sum up the night.' },
    save: 'Create schedule',
    request: { method: 'POST', path: '/schedules' },
    saved: 'The schedule is made.',
  },
  {
    name: 'a hook',
    path: '$agent/hooks?form=add',
    texts: { Name: 'Issues', 'What the agent is told (optional)': 'An issue: {{issue.title}}' },
    secret: ['Secret that both share', 'never-kept-secret'],
    save: 'Create hook',
    request: { method: 'POST', path: '/hooks' },
    saved: '/v1/hooks/',
  },
  {
    name: 'a connection',
    path: '$agent/connections?form=add',
    texts: { Name: 'papers', Address: 'https://api.example.com/v1', Paths: '/notes/*' },
    secret: ['Value of header 1', 'Bearer never-kept'],
    save: 'Create connection',
    request: { method: 'PUT', path: '/connections/' },
    saved: 'The connection is made.',
  },
  {
    name: 'rules of egress',
    path: '$agent/egress',
    choose: ['Only what the list names'],
    texts: { 'Allow list': 'pypi.org' },
    save: 'Save rules',
    request: { method: 'PATCH', path: agent },
    saved: 'The rules are',
  },
  {
    name: 'a member',
    path: '$agent/members',
    open: 'Add member',
    texts: { Name: 'scribe', 'Instructions (optional)': 'You write it down.' },
    save: 'Add member',
    request: { method: 'POST', path: '/members' },
    saved: 'scribe is a member.',
  },
  {
    name: 'a snapshot',
    path: '$agent/snapshots',
    open: 'Save now',
    choose: ['Keep it beyond the agent'],
    texts: { 'Name (optional)': 'before the move', 'Note (optional)': 'All tests pass here.' },
    save: 'Save snapshot',
    request: { method: 'POST', path: '/snapshots' },
    saved: 'The snapshot is saved.',
  },
  {
    name: 'a port',
    path: '$agent/ports',
    open: 'Publish a port',
    choose: ['Anybody'],
    texts: { Port: '3000' },
    save: 'Publish port',
    request: { method: 'POST', path: '/ports' },
    saved: 'Port 3000 is published.',
  },
];

/** The form on the page, or the dialog over it. */
export const placeOf = (page: Page, { open, within }: FormCase): Locator =>
  open !== undefined
    ? page.getByRole('dialog')
    : within === undefined
      ? page.locator('main')
      : page.getByRole('form', { name: within });

export async function fill(page: Page, form: FormCase): Promise<void> {
  if (form.open !== undefined) await buttonIn(page, form.open).first().click();
  const place = placeOf(page, form);
  for (const choice of form.choose ?? []) await place.getByLabel(choice).first().check();
  if (form.select !== undefined) await fieldIn(place, form.select[0]).selectOption(form.select[1]);
  for (const [label, text] of Object.entries(form.texts)) await fieldIn(place, label).fill(text);
  if (form.secret !== undefined) await fieldIn(place, form.secret[0]).fill(form.secret[1]);
}
