/** Things that an agent has and that no export of it has, because they are secrets or mean nothing elsewhere. */
export const missingKinds = [
  'llm_key',
  'channel',
  'connection',
  'hook',
  'port',
  'skill',
  'peer',
  'confirmation_rule',
  'confirmation_delivery',
  'schedule',
  'schedule_delivery',
  'file',
] as const;
export type MissingKind = (typeof missingKinds)[number];
