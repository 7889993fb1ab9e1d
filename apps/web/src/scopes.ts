import type { Scope } from '@lodge/contract';

/** The meaning of each scope, in the order of the form. */
export const scopeSentences: Readonly<Record<Scope, string>> = {
  'agents:read': 'See agents, their status and logs.',
  'agents:write': 'Create, change, start and stop agents, and talk to them.',
  'agents:delete': 'Delete agents for good.',
  'usage:read': 'See usage and cost.',
  'agents:chat': 'Only talk to agents. For handing to an application.',
  'keys:write': 'See, make and revoke API keys of your account.',
};
export const allScopes = Object.keys(scopeSentences) as Scope[];
