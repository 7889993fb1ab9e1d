/**
 * The first entry of an export, `lodge-agent.json`: what the agent is, in the words of the API. It has no key, token or grant;
 * `missing` names them, so that whoever imports it knows what to give anew.
 */
import { Refusal, connectionOfRule, missingKinds } from '@lodge/domain';
import type { Confirmations, MissingKind, RuntimeKind } from '@lodge/domain';
import { portsOf } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { connectionsOf } from '@lodge/store/connections';
import type { Queries } from '@lodge/store/database';
import { hooksOf } from '@lodge/store/hooks';
import { schedulesOf } from '@lodge/store/schedules';
import type { ScheduleRow } from '@lodge/store/schedules';
import { skillsOfAgents } from '@lodge/store/skills';
import { ImportProblem } from './problem.ts';

export const manifestName = 'lodge-agent.json';
export const maxManifestBytes = 4 * 1024 * 1024;
const format = 'lodge-agent';
const version = 1;
const maxMissing = 1_000;
const maxNameChars = 300;

/** A thing that the agent had, and that is to be given anew. */
export interface Missing {
  readonly kind: MissingKind;
  readonly name: string;
}

export interface Manifest {
  readonly runtime: { readonly kind: string; readonly version: string | null };
  /** As a create takes it. */
  readonly agent: unknown;
  /** As creates of members take them. */
  readonly members: readonly unknown[];
  /** As creates of schedules take them. */
  readonly schedules: readonly unknown[];
  readonly missing: readonly Missing[];
}

/** Rows in the words of the API. */
export interface Words {
  readonly agent: (row: AgentRow) => object;
  readonly schedule: (row: ScheduleRow) => object;
}

/** The parts of an export that are rows. */
export async function describeAgent(db: Queries, row: AgentRow, words: Words): Promise<Manifest> {
  const { accountId, id } = row;
  // One connection of the pool serves them one after another.
  const connections = await connectionsOf(db, accountId, id);
  const hooks = await hooksOf(db, accountId, id);
  const ports = await portsOf(db, accountId, id);
  const skills = await skillsOfAgents(db, [id]);
  const schedules = await schedulesOf(db, accountId, id);
  const { confirmations, left } = withoutNames(row.confirmations);
  const peers = row.peers.filter((peer) => peer === '*');
  const now = Date.now();
  const due = schedules.filter(({ at }) => at === null || at.getTime() > now);
  const delivered = due.filter(({ deliverTo }) => deliverTo === 'channel');
  return {
    runtime: { kind: row.runtimeKind, version: row.runtimeVersion },
    agent: words.agent({ ...row, confirmations, peers }),
    members: row.members.map(({ name, model, instructions }) => ({ name, model, instructions })),
    schedules: due.map((schedule) => words.schedule(withoutDelivery(schedule))),
    missing: [
      ...row.llmKeys.map(({ provider }) => missing('llm_key', provider)),
      ...row.channels.map(({ channel }) => missing('channel', channel)),
      ...connections.map(({ name }) => missing('connection', name)),
      ...hooks.map(({ name }) => missing('hook', name)),
      ...ports.map(({ port }) => missing('port', String(port))),
      ...skills.map(({ name }) => missing('skill', name)),
      ...row.peers.filter((peer) => peer !== '*').map((peer) => missing('peer', peer)),
      ...left,
      ...delivered.map(({ name }) => missing('schedule_delivery', name)),
    ],
  };
}

const missing = (kind: MissingKind, name: string): Missing => ({ kind, name });

const withoutDelivery = (row: ScheduleRow): ScheduleRow =>
  row.deliverTo === 'channel' ? { ...row, deliverTo: 'none', deliverChannel: null, deliverConversation: null } : row;

/** Rules for connections, and conversations and people of channels, mean nothing without them. */
function withoutNames(given: Confirmations | null): {
  readonly confirmations: Confirmations | null;
  readonly left: readonly Missing[];
} {
  if (given === null) return { confirmations: null, left: [] };
  const rules = given.rules.filter(({ on }) => connectionOfRule(on) === null);
  const gone = given.rules.filter(({ on }) => connectionOfRule(on) !== null);
  return {
    confirmations: { ...given, rules, deliver: [], deciders: [] },
    left: [
      ...[...new Set(gone.map(({ on }) => on))].map((on) => missing('confirmation_rule', on)),
      ...given.deliver.map(({ channel }) => missing('confirmation_delivery', channel)),
    ],
  };
}

export function manifestBytes(manifest: Manifest, exportedAt: Date): Buffer {
  const head = { format, version, exported_at: exportedAt.toISOString() };
  return Buffer.from(JSON.stringify({ ...head, ...manifest }, null, 2));
}

/** Reads a manifest. Its `agent`, `members` and `schedules` are checked by whoever knows their contract. */
export function readManifest(bytes: Buffer): Manifest {
  const given = parsed(bytes);
  if (given['format'] !== format) throw new ImportProblem('it is no export of an agent');
  if (given['version'] !== version) throw wrong('version', `must be ${version}; this Lodge reads no other`);
  const { runtime, agent, members, schedules, missing: left } = given;
  if (!isObject(runtime) || typeof runtime['kind'] !== 'string') throw wrong('runtime', 'must name a runtime');
  const own = runtime['version'];
  if (own !== null && !(typeof own === 'string' && own.length <= 100))
    throw wrong('runtime.version', 'must be a version');
  if (!isObject(agent)) throw wrong('agent', 'must be an object');
  if (!Array.isArray(members)) throw wrong('members', 'must be an array');
  if (!Array.isArray(schedules)) throw wrong('schedules', 'must be an array');
  if (!Array.isArray(left) || left.length > maxMissing || !left.every(isMissing))
    throw wrong('missing', 'must be a list');
  return { runtime: { kind: runtime['kind'], version: own }, agent, members, schedules, missing: left.map(asMissing) };
}

function parsed(bytes: Buffer): Record<string, unknown> {
  let given: unknown;
  try {
    given = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ImportProblem('it is no export of an agent', { cause: error });
  }
  if (!isObject(given)) throw new ImportProblem('it is no export of an agent');
  return given;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isMissing(value: unknown): value is Missing {
  if (!isObject(value)) return false;
  const { kind, name } = value;
  return (
    missingKinds.some((known) => known === kind) &&
    typeof name === 'string' &&
    name.length <= maxNameChars &&
    name.isWellFormed() &&
    !name.includes('\0')
  );
}

const asMissing = ({ kind, name }: Missing): Missing => ({ kind, name });

const wrong = (field: string, what: string): ImportProblem => new ImportProblem(`its ${field} ${what}`);

/** Refuses an export of a runtime that is newer than the one here, whose files this one may not understand. */
export function checkRuntime({ runtime }: Manifest, kinds: ReadonlyMap<RuntimeKind, string>): RuntimeKind {
  const kind = runtime.kind as RuntimeKind;
  const here = kinds.get(kind);
  if (here === undefined) throw wrong('runtime.kind', 'is not available on this deployment');
  if (runtime.version !== null && isNewer(runtime.version, here)) {
    throw wrong('runtime.version', `is newer than the ${here} of this deployment`);
  }
  return kind;
}

/** Compares the numbers in two versions, in order. */
export function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => (text.match(/\d{1,15}/g) ?? []).map(Number));
  for (let at = 0; at < Math.max(left!.length, right!.length); at += 1) {
    const difference = (left![at] ?? 0) - (right![at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

export const refusalOf = (problem: ImportProblem): Refusal =>
  new Refusal('invalid_request', `The file cannot be imported: ${problem.message}.`, { cause: problem });
