/** The permissions of an API key: the specification's four scopes, and one for keys that may only talk to agents. */
export const scopeMeanings = {
  'agents:read': 'List and read agent details, and logs.',
  'agents:write': 'Create, update, start, stop and restart agents, and talk to them.',
  'agents:delete': 'Delete agents.',
  'usage:read': 'Read usage and cost metrics.',
  'agents:chat': 'Talk to agents, and list them as models.',
} as const;
export type Scope = keyof typeof scopeMeanings;
export const scopes = Object.keys(scopeMeanings) as readonly Scope[];
