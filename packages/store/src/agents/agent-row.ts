/**
 * The agent's row. It is the table's, by its generated type: a further column is a further field. Some columns are one value
 * together, and some stay in the store. Every read has the row as one JSON value, because pg builds an object of so many columns
 * more slowly than it parses JSON.
 */
import { defaultLifecycle } from '@lodge/domain';
import type { Lifecycle, Operation, StatusReason } from '@lodge/domain';
import type { AgentMember, LlmKeyRow, Machine } from '@lodge/ports';
import { sql } from 'kysely';
import type { RawBuilder, Selectable, Updateable } from 'kysely';
import { channelStatusesOf } from '../channels/channel-row.ts';
import type { AgentChannelStatus } from '../channels/channel-row.ts';
import { statement } from '../database/statement.ts';
import type { InJson } from '../database/statement.ts';
import { columnsOf } from '../database/tables.ts';
import type { Agents } from '../database/tables.ts';

/** Columns that are one value together. The value is null where its first column is. */
const groups = {
  lifecycle: Object.fromEntries(Object.keys(defaultLifecycle).map((name) => [name, name])) as {
    readonly [Name in keyof Lifecycle]: Name;
  },
  operation: { kind: 'operationKind', cause: 'operationCause', startedAt: 'operationStartedAt' },
  statusReason: { code: 'statusReasonCode', message: 'statusReasonMessage', at: 'statusReasonAt' },
  machine: { vcpus: 'machineVcpus', memoryMib: 'machineMemoryMib', diskGib: 'machineDiskGib' },
} as const;

/** Columns of the store alone. */
const hidden = ['deletedAt', 'leaseHolder', 'leaseUntil'] as const;

type ValuesOf<Group> = Group[keyof Group];
type Grouped = ValuesOf<{ [Name in keyof typeof groups]: ValuesOf<(typeof groups)[Name]> }>;

type ReadOnly<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends readonly (infer Item)[] | null
    ? readonly Item[] | Extract<Row[Name], null>
    : Row[Name];
};

/**
 * An agent as the store has it: the wanted state (`desired`, `generation`) beside the observed state (`status` and its like).
 *
 * - `egressVersion` rises with every change of `egress`; `egressApplied` is the version on its machine's network.
 * - `models` are those that it may call beside its own and its members'; null allows every model of its providers.
 * - `peers` are ids of agents of the account that it may ask; `*` means all.
 * - `generation` rises with every operation that begins and with a delete. An effect decided for an older one is void.
 * - `executionId` is the incarnation of the VM that is wanted or present; null before the first attempt.
 * - `templateId` and `runtimeVersion` are null until a VM was made.
 * - `host` is the `holder` whose host has the agent's disk, and who alone drives it; null until a VM was made.
 * - `settingsApplied` is the digest of the settings in effect in its guest (`settingsDigest`). Null when unknown: after a boot
 *   from its disk, or with an older copy of disk and memory.
 * - `packagesApplied` is the digest of the packages in its guest (`packagesDigest`); null when unknown. `packagesError` says
 *   why the wanted ones are not there.
 * - `skillsWanted` is the digest of the skills that its owner wants (`setDigest`). `skillsApplied` is that of the skills and
 *   members in its guest (`skillsDigest`); null when unknown. `skillsError` says why the wanted ones are not there.
 * - `nextFrom` is the snapshot that its next start begins from instead of its own disk; `nextMemory` says whether with memory.
 * - `restoreTo` and `restoreMemory` say where a restore goes once the present is saved; `restoreBack` is the snapshot of the
 *   present, which comes back when the start from there fails.
 * - `nextImport` is the import whose folders its first machine gets; null once it runs with them.
 * - `turnNote` is a line that its next turn begins with. `turns` counts the turns that were begun.
 * - `acknowledged` is true once the agent was reported running. From then on its disk holds state that must not be lost.
 * - `crashes` are unexpected deaths of the VM within the counted window, newest last.
 */
export interface AgentRow extends ReadOnly<Omit<Selectable<Agents>, Grouped | (typeof hidden)[number] | 'members'>> {
  readonly lifecycle: Lifecycle;
  /** The change of the machine in progress: admitted and not ended yet. */
  readonly operation: Operation | null;
  readonly statusReason: StatusReason | null;
  /** The machine as it is, or was when it last ran; null before its first run. `size` is the requested size. */
  readonly machine: Machine | null;
  /** Further agents in the same machine, oldest first. */
  readonly members: readonly AgentMember[];
  readonly llmKeys: readonly LlmKeyRow[];
  /** Its messaging channels, by name. */
  readonly channels: readonly AgentChannelStatus[];
}

export const now = sql<Date>`clock_timestamp()`;

const snakeOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelOf = (column: string): string => column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const apart: ReadonlySet<string> = new Set([
  ...hidden,
  ...Object.values(groups).flatMap((group) => Object.values(group)),
]);

/** The fields of a row of `table`, which is the agents' or has their columns, by the names of `AgentRow`. */
function fieldsOf(table: string): RawBuilder<unknown> {
  const own = columnsOf.agents
    .filter((column) => !apart.has(camelOf(column)))
    .map((column) => `${table}.${column} as "${camelOf(column)}"`);
  const together = Object.entries(groups).map(([name, group]) => {
    const parts = Object.entries(group).map(([part, column]) => [`'${part}'`, `${table}.${snakeOf(column)}`] as const);
    return `case when ${parts[0]![1]} is not null then json_build_object(${parts.flat().join(', ')}) end as "${name}"`;
  });
  const id = sql.ref<string>(`${table}.id`);
  return sql`${sql.raw([...own, ...together].join(', '))}, (
    select coalesce(json_agg(json_build_object(
      'provider', k.provider, 'sealed', k.sealed, 'last4', k.last4, 'createdAt', k.created_at
    ) order by k.created_at, k.provider), '[]')
    from llm_keys k where k.agent_id = ${id}
  ) as "llmKeys", ${channelStatusesOf(id)} as channels`;
}

const agentFields = fieldsOf('agents');

/** An agent from JSON, which has no dates. */
export type AgentJson = InJson<AgentRow>;

/** The agent of the query's row, as one JSON column. `table` is the agents', or has their columns. */
export const agentJson = (table = 'agents'): RawBuilder<AgentJson> =>
  sql<AgentJson>`(select to_json(found) from (select ${table === 'agents' ? agentFields : fieldsOf(table)}) found)`;

/** The agent with this id, `$1`. */
export const agentById = statement<AgentRow>('agent_by_id', (db) => ({
  compile: () => sql<AgentRow>`select ${agentFields} from agents where deleted_at is null and id = ${''}`.compile(db),
}));

const dateOf = (at: string | null): Date | null => (at === null ? null : new Date(at));

export function toAgentRow(row: AgentJson): AgentRow {
  const { operation, statusReason } = row as unknown as AgentRow;
  return Object.assign(row, {
    operation: operation && { ...operation, startedAt: new Date(operation.startedAt) },
    statusReason: statusReason && { ...statusReason, at: new Date(statusReason.at) },
    members: row.members.map((member) => ({ ...member, createdAt: new Date(member.createdAt) })),
    llmKeys: row.llmKeys.map((key) => ({ ...key, createdAt: new Date(key.createdAt) })),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    startedAt: dateOf(row.startedAt),
    pausedAt: dateOf(row.pausedAt),
    stoppedAt: dateOf(row.stoppedAt),
    lastActiveAt: dateOf(row.lastActiveAt),
    crashes: row.crashes.map((at) => new Date(at)),
  });
}

/** Fields to write; those left out or undefined stay as they are. */
export type AgentFields = {
  readonly [Name in Exclude<keyof AgentRow, 'llmKeys' | 'channels'>]?: AgentRow[Name] | undefined;
};

/** The columns of the given fields. pg itself writes an object as JSON, but a list as an array of Postgres. */
export function agentColumns({ members, ...fields }: AgentFields): Updateable<Agents> {
  const columns: Record<string, unknown> = members === undefined ? {} : { members: JSON.stringify(members) };
  for (const [name, value] of Object.entries(fields)) {
    const group = groups[name as keyof typeof groups] as Readonly<Record<string, string>> | undefined;
    if (group === undefined || value === undefined) columns[name] = value;
    else for (const [part, column] of Object.entries(group)) columns[column] = value?.[part as never] ?? null;
  }
  return columns;
}
