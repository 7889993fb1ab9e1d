/** The families of actions that somebody may look for; a further one that comes later is under all. */
export const families = {
  agent: 'Agents',
  channel: 'Channels',
  schedule: 'Schedules',
  hook: 'Hooks',
  connection: 'Connections',
  webhook: 'Webhooks',
  api_key: 'API keys',
  oauth: 'Programs with access',
  device: 'Sign-ins of command lines',
  account: 'Account and limits',
  session: 'Sessions',
  password: 'Passwords',
  totp: 'Second factors',
  invitation: 'Invitations',
} as const;
export type Family = keyof typeof families;

export const actors = { account: 'People', api_key: 'API keys', operator: 'The operator' } as const;
export type ActorType = keyof typeof actors;

/** The filters of the log, in the address. */
export interface AuditSearch {
  readonly what?: Family;
  readonly who?: ActorType;
  /** The id of an object, such as an agent. */
  readonly target?: string;
}

export function auditSearchOf({ what, who, target }: Readonly<Record<string, unknown>>): AuditSearch {
  return {
    ...(typeof what === 'string' && Object.hasOwn(families, what) && { what: what as Family }),
    ...(typeof who === 'string' && Object.hasOwn(actors, who) && { who: who as ActorType }),
    ...(typeof target === 'string' && /^[\u0021-\u007e]{1,100}$/.test(target) && { target }),
  };
}
