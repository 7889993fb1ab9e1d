/** Kinds of things that happen to an agent, as the page filters them. */
export const activityKinds = {
  turns: 'Turns and model calls',
  messages: 'Messages and channels',
  schedules: 'Schedules',
  hooks: 'Hooks',
  connections: 'Connections',
  machine: 'Machine',
  settings: 'Settings',
  spend: 'Spend limits',
} as const;

export type ActivityKind = keyof typeof activityKinds;

export const isKind = (value: unknown): value is ActivityKind =>
  typeof value === 'string' && Object.hasOwn(activityKinds, value);
