/**
 * The state of the machine, for the owner: what is left of it, who holds it, and what is weak. Each part is read when somebody
 * asks and held for some seconds. A machine host that does not answer costs its own part alone.
 */
import { atMost, Refusal } from '@lodge/domain';
import type { AgentStatus, RuntimeKind } from '@lodge/domain';
import type { AgentRuntime, BackupsNote, HostFindings, HostLook, Log, VmDriver } from '@lodge/ports';
import { allAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Database } from '@lodge/store/database';
import type { AccountRow } from '@lodge/store/accounts';
import type { TemplateProgress, Templates } from '../templates/templates.ts';
import { Held } from './held.ts';

export interface AgentUse {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly status: AgentStatus;
  /** Null when it was not read. */
  readonly memoryMib: number | null;
  readonly diskMib: number;
  readonly snapshotMib: number;
}

export interface AgentsUse {
  readonly total: number;
  readonly byStatus: ReadonlyMap<AgentStatus, number>;
  readonly memoryMib: number;
  readonly diskMib: number;
  /** Machines whose memory was not read, because they are many or did not answer. */
  readonly unread: number;
  /** Those that hold the most, first. */
  readonly top: readonly AgentUse[];
}

export interface RuntimeVersionsUse {
  readonly runtime: string;
  /** The version of new agents; null while its template is made. */
  readonly current: string | null;
  /** The version that an upgrade brings. */
  readonly newest: string | null;
  /** Agents that an upgrade would bring something. */
  readonly outdatedAgents: number;
}

export interface HostReport {
  readonly lookedAt: Date;
  readonly memory: { readonly totalMib: number; readonly availableMib: number } | null;
  readonly disk: { readonly totalMib: number; readonly freeMib: number } | null;
  readonly agents: AgentsUse | null;
  readonly templates: readonly TemplateProgress[];
  readonly runtimes: readonly RuntimeVersionsUse[];
  readonly look: HostFindings | null;
  readonly backups: BackupsNote | null;
}

export interface Host {
  /** Throws `owner_only` for anybody else. */
  report(asker: Pick<AccountRow, 'role'>): Promise<HostReport>;
}

export interface HostDeps {
  readonly database: Pick<Database, 'repeatable'>;
  readonly driver: Pick<VmDriver, 'hostMemory' | 'hostDisk' | 'diskUse' | 'usage'>;
  readonly templates: Pick<Templates, 'current' | 'newest' | 'isNewest' | 'versionOf' | 'progress'>;
  readonly runtimes: ReadonlyMap<RuntimeKind, Pick<AgentRuntime, 'name'>>;
  /** Without it nothing is known of the machine's weaknesses and of backups. */
  readonly hostLook?: HostLook;
  readonly log: Log;
}

const maxTop = 10;
/** Reading the memory of a machine walks its page tables. */
const maxRead = 200;
const lanes = 4;
const readAllMs = 5_000;

const brief = { freshMs: 3_000, waitMs: 2_000, staleMs: 30_000 };
const agentsHeld = { freshMs: 10_000, waitMs: 4_000, staleMs: 60_000 };
/** The checks start programs, and what they look at seldom changes. */
const findingsHeld = { freshMs: 300_000, waitMs: 1_500, staleMs: 900_000 };

export function createHost(deps: HostDeps): Host {
  const { database, driver, hostLook, log } = deps;
  const memory = new Held({ ...brief, what: "the host's memory", read: () => driver.hostMemory(), log });
  const disk = new Held({ ...brief, what: "the host's disk", read: () => driver.hostDisk(), log });
  const rows = new Held({ ...brief, what: 'the agents', read: () => database.repeatable(allAgents), log });
  const agents = new Held({
    ...agentsHeld,
    what: 'what agents hold',
    read: async () => readAgents(await database.repeatable(allAgents), driver),
    log,
  });
  const look = hostLook && new Held({ ...findingsHeld, what: 'the checks', read: () => hostLook.findings(), log });
  const backups = hostLook && new Held({ ...brief, what: 'the last backup', read: () => hostLook.backups(), log });
  return {
    async report({ role }) {
      if (role !== 'owner') throw new Refusal('owner_only', 'Only an owner may do this.');
      const [memoryNow, diskNow, agentsNow, all, lookNow, backupsNow] = await Promise.all([
        memory.get(),
        disk.get(),
        agents.get(),
        rows.get(),
        look?.get() ?? null,
        backups?.get() ?? null,
      ]);
      return {
        lookedAt: new Date(),
        memory: memoryNow,
        disk: diskNow,
        agents: agentsNow,
        templates: [...deps.runtimes.keys()].map((kind) => deps.templates.progress(kind)),
        runtimes: versionsOf(deps, all ?? []),
        look: lookNow,
        backups: backupsNow,
      };
    },
  };
}

function versionsOf({ runtimes, templates }: HostDeps, rows: readonly AgentRow[]): readonly RuntimeVersionsUse[] {
  const versionOf = (template: { readonly id: string } | null): string | null =>
    template === null ? null : templates.versionOf(template.id);
  return [...runtimes].map(([kind, { name }]) => {
    const newest = templates.newest(kind);
    const isOutdated = ({ runtimeKind, templateId }: AgentRow): boolean =>
      runtimeKind === kind && newest !== null && templateId !== null && !templates.isNewest(kind, templateId);
    return {
      runtime: name,
      current: versionOf(templates.current(kind)),
      newest: versionOf(newest),
      outdatedAgents: rows.filter(isOutdated).length,
    };
  });
}

async function readAgents(rows: readonly AgentRow[], driver: Pick<VmDriver, 'diskUse' | 'usage'>): Promise<AgentsUse> {
  const disks = new Map((await driver.diskUse('all')).map((use) => [use.agentId, use]));
  const awake = rows.filter(({ status }) => status === 'running' || status === 'paused').slice(0, maxRead);
  const memory = await readMemory(awake, driver);
  const uses = rows.map(({ id, accountId, name, status }): AgentUse => {
    const { diskMib = 0, snapshotMib = 0 } = disks.get(id) ?? {};
    const hasMemory = status === 'running' || status === 'paused';
    const memoryMib = memory.get(id) ?? (hasMemory ? null : 0);
    return { id, accountId, name, status, memoryMib, diskMib, snapshotMib };
  });
  const byStatus = new Map<AgentStatus, number>();
  for (const { status } of rows) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  const held = ({ memoryMib, diskMib, snapshotMib }: AgentUse): [number, number] => [
    memoryMib ?? 0,
    diskMib + snapshotMib,
  ];
  const ordered = uses.toSorted((one, other) => {
    const [[memoryA, diskA], [memoryB, diskB]] = [held(one), held(other)];
    return memoryB - memoryA || diskB - diskA;
  });
  return {
    total: rows.length,
    byStatus,
    memoryMib: uses.reduce((sum, { memoryMib }) => sum + (memoryMib ?? 0), 0),
    diskMib: uses.reduce((sum, { diskMib, snapshotMib }) => sum + diskMib + snapshotMib, 0),
    unread: uses.filter(({ memoryMib }) => memoryMib === null).length,
    top: ordered.slice(0, maxTop),
  };
}

/** Reads some machines at a time until the bound is over; those not read by then are left out. */
async function readMemory(
  agents: readonly AgentRow[],
  driver: Pick<VmDriver, 'usage'>,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const waiting = agents.values();
  const until = performance.now() + readAllMs;
  const lane = async (): Promise<void> => {
    for (const { id } of waiting) {
      if (performance.now() > until) return;
      const usage = await driver.usage(id).catch(() => null);
      if (usage !== null) found.set(id, usage.memoryMib);
    }
  };
  await atMost(readAllMs, Promise.all(Array.from({ length: lanes }, lane)), () => []);
  return found;
}
