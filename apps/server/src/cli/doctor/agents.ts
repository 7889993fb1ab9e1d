/**
 * Agents' resource usage on this host: status from the database if it answers, memory and disk from their run directories.
 * Reads only.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, VmObservation, VmUsage } from '@lodge/ports';
import { allAgents } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { countAccounts } from '@lodge/store/accounts';
import { exists } from '../../host/files.ts';
import type { Config } from '../../config/config.ts';
import { openMachines } from '../../host/machines.ts';
import { found, isRoot, note, ok, unseen } from '../../host/finding.ts';
import type { Finding, Section } from '../../host/finding.ts';
import { askStore } from './ask-store.ts';
import { sizeMib, sizeText } from './folder-size.ts';

/** Further ones are summed up; `--json` has them all. */
const maxShown = 50;

interface AgentFacts {
  readonly id: string;
  /** Null without a database to ask, and for machines that no row owns. */
  readonly row: AgentRow | null;
  readonly vm: VmObservation | null;
  readonly usage: VmUsage | null;
}

export async function agentsSection(config: Config, log: Log, all: boolean): Promise<Section> {
  const agents: AgentFacts[] = [];
  const summary = await found('agents', async () => {
    const rows = await readRows(config, log);
    agents.push(...(await agentFacts(config, log, rows ?? [])));
    return summaryOf(agents, rows !== null);
  });
  const shown = all ? agents : agents.slice(0, maxShown);
  const more = agents.length - shown.length;
  return {
    title: 'Agents',
    findings: [
      summary,
      ...shown.map((agent) => ok(agent.id, describe(agent))),
      ...(more > 0 ? [note('more', `${more} agents are not shown`, 'npm run doctor -- --json shows all')] : []),
      ...(await seenFolders(config, agents)),
    ],
  };
}

const readRows = (config: Config, log: Log): Promise<readonly AgentRow[] | null> =>
  askStore(config, log, (store) => store.database.repeatable(allAgents));

/** How many people have an account; null when no database runs. */
export const countPeople = (config: Config, log: Log): Promise<number | null> =>
  askStore(config, log, (store) => store.database.repeatable(countAccounts));

async function agentFacts(config: Config, log: Log, rows: readonly AgentRow[]): Promise<AgentFacts[]> {
  const facts = new Map<string, AgentFacts>(rows.map((row) => [row.id, { id: row.id, row, vm: null, usage: null }]));
  if (!(await exists(join(config.dataDir, 'vms')))) return [...facts.values()];
  const { driver } = await openMachines(config, log);
  for (const vm of await driver.list()) {
    const id = vm.agentId;
    facts.set(id, { id, row: facts.get(id)?.row ?? null, vm, usage: await driver.usage(id) });
  }
  return [...facts.values()];
}

function summaryOf(agents: readonly AgentFacts[], hasDatabase: boolean): Finding {
  const counts = new Map<string, number>();
  for (const agent of agents) counts.set(stateOf(agent), (counts.get(stateOf(agent)) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
  const total = (field: 'memoryMib' | 'diskMib' | 'snapshotMib'): string =>
    sizeText(agents.reduce((sum, { usage }) => sum + (usage?.[field] ?? 0), 0));
  const sums = `${total('memoryMib')} memory, ${total('diskMib')} disk, ${total('snapshotMib')} snapshots`;
  const detail = agents.length === 0 ? 'none' : `${states}; ${sums}`;
  if (hasDatabase) return ok('agents', detail);
  return note('agents', `${detail}; the database is not running, so this is what the host has`, 'npm start');
}

const stateOf = ({ row, vm }: AgentFacts): string => row?.status ?? vm?.state ?? 'unknown';

function describe({ row, vm, usage }: AgentFacts): string {
  const status = row === null ? `${vm?.state ?? 'unknown'} here` : row.status;
  const change = row?.operation ? ` (${row.operation.kind} under way)` : '';
  const reason = row?.status === 'error' && row.statusReason ? ` (${row.statusReason.code})` : '';
  const amounts =
    usage === null
      ? ['nothing on this host']
      : [
          `${sizeText(usage.memoryMib)} memory`,
          `${sizeText(usage.diskMib)} disk`,
          ...(usage.snapshotMib > 0 ? [`${sizeText(usage.snapshotMib)} snapshot`] : []),
        ];
  const name = row === null ? '' : `  ${plain(row.name)}`;
  return `${status}${change}${reason}, ${amounts.join(', ')}${name}`;
}

/** A name is its owner's text: on a terminal it must stay plain text. */
const plain = (text: string): string => JSON.stringify(text.replaceAll(/\p{C}/gu, '?').slice(0, 60));

/**
 * Templates of this Lodge, then further ones of the cache: a file that several folders link to counts at its first place.
 */
async function seenFolders({ dataDir, cacheDir }: Config, agents: readonly AgentFacts[]): Promise<Finding[]> {
  const counted = new Set<string>();
  const findings: Finding[] = [];
  for (const [kind, parent] of [
    ['templates', join(dataDir, 'templates')],
    ['cached templates', join(cacheDir, 'templates')],
    ['images', join(cacheDir, 'images')],
  ] as const) {
    const there = folders(kind, parent, kind === 'templates' ? agents : [], counted);
    findings.push(
      ...(await there.catch((error: unknown) => {
        if (isRoot()) throw error;
        return [unseen(kind)];
      })),
    );
  }
  return findings;
}

/** Folders with their disk usage, and the number of this Lodge's agents over each. */
async function folders(
  kind: string,
  parent: string,
  agents: readonly AgentFacts[],
  counted: Set<string>,
): Promise<Finding[]> {
  const names = (await exists(parent)) ? await readdir(parent) : [];
  const each: Finding[] = [];
  let total = 0;
  for (const name of names) {
    const size = await sizeMib(join(parent, name), counted);
    total += size;
    const users = agents.filter(({ row }) => row?.templateId != null && name.startsWith(row.templateId)).length;
    each.push(ok(`  ${name}`, `${sizeText(size)}${users > 0 ? `, under ${users} of these agents` : ''}`));
  }
  return [ok(kind, names.length === 0 ? 'none' : `${names.length}, ${sizeText(total)}`), ...each];
}
