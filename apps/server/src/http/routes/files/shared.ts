/** A file may take as long as its client's line does, within this. */
export const transferMs = 15 * 60_000;

/** What any request for files may be refused with. */
export const fileErrors = [
  'invalid_request',
  'agent_not_found',
  'file_not_found',
  'agent_not_running',
  'agent_transitioning',
  'agent_outdated',
  'file_conflict',
  'rate_limit_exceeded',
  'quota_exceeded',
  'insufficient_capacity',
  'agent_unavailable',
] as const;
