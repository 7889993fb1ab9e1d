/**
 * The permissions of an API key: the specification's four scopes, one for keys that may only talk to agents, and one for keys
 * that manage keys.
 */
export const scopeMeanings = {
  'agents:read': 'List and read agent details, and logs.',
  'agents:write': 'Create, update, start, stop and restart agents, and talk to them.',
  'agents:delete': 'Delete agents.',
  'usage:read': 'Read usage and cost metrics.',
  'agents:chat': 'Talk to agents, and list them as models.',
  'keys:write': 'List, make and revoke API keys of the account.',
} as const;
export type Scope = keyof typeof scopeMeanings;
export const scopes = Object.keys(scopeMeanings) as readonly Scope[];

/**
 * The scopes of a signed-in person's role. An owner and a member may do everything in their own account, and a viewer only
 * reads.
 */
export const scopesOfRole = {
  owner: scopes,
  member: scopes,
  viewer: ['agents:read', 'usage:read'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type Role = keyof typeof scopesOfRole;
export const roles = Object.keys(scopesOfRole) as readonly Role[];

/** Roles that an invitation gives. Only the owner link makes an owner. */
export const invitedRoles = ['member', 'viewer'] as const satisfies readonly Role[];
export type InvitedRole = (typeof invitedRoles)[number];
