import { scopes } from './scopes.ts';
import type { Scope } from './scopes.ts';

/** What a person signed in may do: an owner and a member everything in their own account, a viewer only reads. */
export const scopesOfRole = {
  owner: scopes,
  member: scopes,
  viewer: ['agents:read', 'usage:read'],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;
export type Role = keyof typeof scopesOfRole;
export const roles = Object.keys(scopesOfRole) as readonly Role[];

/** Roles that an invitation gives. An owner is made by the owner link alone. */
export const invitedRoles = ['member', 'viewer'] as const satisfies readonly Role[];
export type InvitedRole = (typeof invitedRoles)[number];
