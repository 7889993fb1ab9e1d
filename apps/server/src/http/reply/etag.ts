import { Refusal } from '@lodge/domain';
import { hash } from 'node:crypto';
import type { AgentRow } from '@lodge/store/agents';

/**
 * A strong ETag of an agent's record. It is made of the record's content and not of its time of change, so that two changes
 * within one tick of the clock differ. Activity alone (`last_active_at`) does not change it: otherwise no client could ever
 * change a working agent.
 */
export function etagOf(row: AgentRow): string {
  const keys = Object.fromEntries(row.llmKeys.map(({ provider, sealed }) => [provider, sealed]));
  const facts = [
    [row.generation, row.status, row.statusReason, row.operation, row.machine],
    [row.name, row.description, row.model, row.size, row.lifecycle, sorted(row.metadata), sorted(keys)],
    [sorted(row.labels), row.instructions, row.dashboard, row.spendLimit, row.settingsApplied],
    [row.egressVersion, row.egressApplied, row.models, row.peers],
    [row.startedAt, row.pausedAt, row.stoppedAt],
    ...Object.entries(row).filter(([field]) => !placed.has(field)),
  ];
  return `"${hash('sha256', JSON.stringify(facts), 'base64url').slice(0, 27)}"`;
}

/** Fields that have their place above, or none because no client changes them. Any further field counts by its name. */
const placed: ReadonlySet<string> = new Set<keyof AgentRow>([
  ...(['id', 'accountId', 'runtimeKind', 'desired', 'members', 'channels', 'llmKeys', 'metadata', 'labels'] as const),
  ...([
    'generation',
    'status',
    'statusReason',
    'operation',
    'machine',
    'name',
    'description',
    'model',
    'size',
  ] as const),
  ...(['lifecycle', 'instructions', 'dashboard', 'spendLimit', 'settingsApplied', 'egress', 'egressVersion'] as const),
  ...(['egressApplied', 'models', 'peers', 'startedAt', 'pausedAt', 'stoppedAt', 'createdAt', 'updatedAt'] as const),
  ...(['lastActiveAt', 'executionId', 'templateId', 'runtimeVersion', 'vmAddress', 'host', 'acknowledged'] as const),
  'crashes',
  'hostAccess',
  'nextFrom',
  'nextMemory',
  'restoreTo',
  'restoreMemory',
  'restoreBack',
  'turnNote',
  'turns',
]);

/** Pairs in an order that does not depend on how they were stored. */
const sorted = (pairs: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(pairs).sort(([a], [b]) => (a < b ? -1 : 1));

/** Refuses with 412 unless the row matches an If-Match header (RFC 9110, 13.1.1). Weak tags never match. */
export function checkIfMatch(header: string | undefined, row: AgentRow): void {
  if (header === undefined || header.trim() === '*') return;
  if (header.split(',').some((tag) => tag.trim() === etagOf(row))) return;
  throw new Refusal(
    'precondition_failed',
    'The agent has changed since the ETag in If-Match was given. Read it again.',
  );
}
