import { CommandError, say } from '../command.ts';
import { agentsOf, alone, countAgents, runtimeNamed } from './deployment.ts';
import type { AgentCounts, Known, Runtimes } from './deployment.ts';

/**
 * Removes a version that nobody needs. The templates under agents' disks are collected separately, when no agent needs them.
 */
export async function removeVersion(
  runtimes: Runtimes,
  { runtime: name, version }: { readonly runtime: string; readonly version: string },
): Promise<number> {
  const known = runtimeNamed(runtimes, name);
  const { installed } = runtimes;
  if (!(await installed.list(known.runtime.name)).includes(version)) {
    throw new CommandError(`${known.runtime.name} ${version} is not installed here.`);
  }
  await alone(runtimes, async () => {
    const why = await whyNeeded(runtimes, known, version, await countAgents(runtimes));
    if (why !== null) throw new CommandError(`${known.runtime.name} ${version} stays: ${why}.`);
    await installed.remove(known.runtime.name, version);
  });
  say(`${known.runtime.name} ${version} is removed.`);
  return 0;
}

/** Removes versions that are neither offered nor any agent's; later steps check `spared`. */
export async function collectVersions(runtimes: Runtimes, known: Known, spared: string): Promise<void> {
  const { installed } = runtimes;
  const agents = await countAgents(runtimes);
  for (const version of await installed.list(known.runtime.name)) {
    if (version === spared || (await whyNeeded(runtimes, known, version, agents)) !== null) continue;
    await installed.remove(known.runtime.name, version);
    say(`${known.runtime.name} ${version} is removed: it is not offered, and no agent has it.`);
  }
}

async function whyNeeded(
  runtimes: Runtimes,
  known: Known,
  version: string,
  counts: AgentCounts | null,
): Promise<string | null> {
  const { fresh, upgrade } = await runtimes.installed.offer(known.runtime.name);
  if (version === fresh || version === upgrade) return 'it is offered; use another one first';
  const agents = counts === null ? 0 : agentsOf(counts, known, version);
  return agents === 0
    ? null
    : `${agents} ${agents === 1 ? 'agent has' : 'agents have'} it; upgrade or delete them first`;
}
