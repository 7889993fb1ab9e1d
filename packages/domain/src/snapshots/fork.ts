/** Forks: agents that are made from one saved machine of another agent. */
import type { SpendLimit } from '../spend.ts';

/** Most forks of one request. */
export const maxForks = 20;

/** The parts of its parent that a fork gets only where they are asked for. */
export const forkIncludes = ['schedules', 'connections', 'ports', 'browser'] as const;
export type ForkInclude = (typeof forkIncludes)[number];

/** Whether forks get their parent's LLM keys. */
export const forkedKeys = ['copy', 'none'] as const;
export type ForkedKeys = (typeof forkedKeys)[number];

/** The snapshot that a fork is made from is kept for so long, unless its owner says otherwise. */
export const forkSnapshotDays = 7;

const maxNameChars = 100;

/** The name within the bound, with `end` whole. A letter of two units is not cut. */
function shortened(name: string, end: string): string {
  const kept = name.slice(0, maxNameChars - end.length);
  return (/[\uD800-\uDBFF]$/.test(kept) ? kept.slice(0, -1) : kept).trimEnd() + end;
}

/**
 * Names of forks, which none of `taken` has: `<parent> fork 3`, or with a name of their own `<name> 3`. A single fork with a
 * name has just that.
 */
export function forkNames(
  parent: string,
  {
    name,
    count,
    taken,
  }: { readonly name: string | undefined; readonly count: number; readonly taken: readonly string[] },
): string[] {
  if (name !== undefined && count === 1) return [name];
  const known = new Set(taken);
  const names: string[] = [];
  for (let n = 1; names.length < count; n += 1) {
    const next = name === undefined ? shortened(parent, ` fork ${n}`) : shortened(name, ` ${n}`);
    if (!known.has(next)) names.push(next);
  }
  return names;
}

/** An equal part of a limit for each of so many agents, rounded down to the cent, and one cent at least. */
export function sharedLimit(limit: SpendLimit | null, agents: number): SpendLimit | null {
  if (limit === null) return null;
  const part = (usd: string | null): string | null => usd && partOf(usd, agents);
  return { ...limit, dailyUsd: part(limit.dailyUsd), monthlyUsd: part(limit.monthlyUsd) };
}

function partOf(usd: string, agents: number): string {
  const [whole = '0', fraction = ''] = usd.split('.');
  const part = BigInt(whole + fraction.padEnd(2, '0').slice(0, 2)) / BigInt(agents);
  const cents = (part === 0n ? 1n : part).toString().padStart(3, '0');
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`;
}

interface Agent {
  readonly id: string;
  readonly name: string;
}

/** The line that a fork's next turn begins with. */
export const forkNote = (
  fork: Agent,
  parent: Agent,
  { nth, count }: { readonly nth: number; readonly count: number },
) =>
  `You are a fork${count > 1 ? `, number ${nth} of ${count},` : ''} of the agent ${words(parent)}: everything up to here was that agent's, which goes on without you. You are the agent ${words(fork)} now. Its channels, hooks and links are not yours. Do not go on with its work unless you are asked to.`;

/** The line that the next turn of an agent begins with that was made from a snapshot of another one. */
export const madeFromNote = (agent: Agent, parentId: string) =>
  `You are a new agent, ${words(agent)}: your machine was made from a snapshot of the agent ${parentId}. Its conversations, channels, hooks and links are not yours. Do not go on with its work unless you are asked to.`;

const words = ({ id, name }: Agent): string => `${JSON.stringify(name)} (${id})`;
