import { scopes } from './scopes.ts';
import type { Scope } from './scopes.ts';

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
