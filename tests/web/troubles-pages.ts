/** Every page of the dashboard by its address and its heading. */

export interface PageCase {
  readonly path: string;
  readonly heading: string;
}

/** Pages of an agent, under its name. */
const tabs: readonly (readonly [path: string, heading: string])[] = [
  ['chat', 'Chat'],
  ['activity', 'Activity'],
  ['messages', 'Messages'],
  ['logs', 'Logs'],
  ['files', 'Files'],
  ['terminal', 'Terminal'],
  ['browser', 'Browser'],
  ['snapshots', 'Snapshots'],
  ['members', 'Members'],
  ['skills', 'Skills'],
  ['channels', 'Channels'],
  ['channels?channel=telegram', 'Telegram'],
  ['schedules', 'Schedules'],
  ['connections', 'Connections'],
  ['connections?connection=notes', 'notes'],
  ['hooks', 'Hooks'],
  ['egress', 'Egress'],
  ['ports', 'Ports'],
  ['usage', 'Usage'],
  ['settings', 'Settings'],
];

export const signedInPages: readonly PageCase[] = [
  { path: '/', heading: 'Home' },
  { path: '/agents', heading: 'Agents' },
  { path: '/agents/new', heading: 'New agent' },
  { path: '/confirmations', heading: 'Confirmations' },
  ...tabs.map(([path, heading]) => ({ path: `$agent/${path}`, heading })),
  { path: '/account/usage', heading: 'Usage & limits' },
  { path: '/account/limits', heading: 'Quotas & rates' },
  { path: '/account/keys', heading: 'API Keys' },
  { path: '/account/webhooks', heading: 'Webhooks' },
  { path: '/account/webhooks/$webhook', heading: 'Webhook' },
  { path: '/account/skills', heading: 'Skills' },
  { path: '/account/audit', heading: 'Audit log' },
  { path: '/account/security', heading: 'Security' },
  { path: '/account/people', heading: 'People' },
  { path: '/host', heading: 'Host' },
];
