import { releasedVersions, newestFirst } from '@lodge/images';
import type { Verdict } from '@lodge/images';
import { openMachines } from '../../host/machines.ts';
import { say } from '../command.ts';
import { agentsOf, countAgents, imageOf, whyNotOffered } from './deployment.ts';
import type { AgentCounts, Known, Runtimes } from './deployment.ts';

interface VersionState {
  readonly version: string;
  readonly comes: 'with Lodge' | 'installed';
  readonly image: string | null;
  readonly has_template: boolean;
  /** Null if no database was ever started. */
  readonly agents: number | null;
  /** Why agents do not get it; null if they may. */
  readonly kept_because: string | null;
  readonly failing: Verdict['failure'];
  /** Whether new agents get it. */
  readonly new_agents: boolean;
  readonly upgrade: boolean;
}

interface RuntimeState {
  readonly runtime: string;
  readonly versions: readonly VersionState[];
  readonly registry: {
    readonly name: string;
    readonly newest: string | null;
    readonly newer: readonly string[];
    readonly error: string | null;
  };
}

const registryTimeoutMs = 60_000;
const shownNewer = 5;

export async function listRuntimes(runtimes: Runtimes, { isJson }: { readonly isJson: boolean }): Promise<number> {
  const { driver } = await openMachines(runtimes.config, runtimes.log);
  const agents = await countAgents(runtimes);
  const states: RuntimeState[] = [];
  for (const known of runtimes.known) {
    const registry = inRegistry(runtimes, known);
    const versions = await versionsOf(runtimes, known, agents, (image) =>
      driver
        .findTemplate({ image: { id: image }, variant: known.runtime.templateVariant })
        .then((found) => found !== null),
    );
    states.push({ runtime: known.runtime.name, versions, registry: await registry });
  }
  if (isJson) say(JSON.stringify(states, null, 2));
  else for (const state of states) print(state);
  return 0;
}

async function versionsOf(
  runtimes: Runtimes,
  known: Known,
  agents: AgentCounts | null,
  hasTemplate: (image: string) => Promise<boolean>,
): Promise<VersionState[]> {
  const { installed } = runtimes;
  const { name, version: own } = known.runtime;
  const offer = await installed.offer(name);
  const states: VersionState[] = [];
  for (const version of [null, ...(await installed.list(name)).sort(newestFirst)]) {
    const why = version === null ? null : await whyNotOffered(runtimes, known, version);
    const image = await imageOf(runtimes, known, version);
    states.push({
      version: version ?? own,
      comes: version === null ? 'with Lodge' : 'installed',
      image,
      has_template: image !== null && (await hasTemplate(image)),
      agents: agents && agentsOf(agents, known, version ?? own),
      kept_because: why,
      failing: version === null ? null : ((await installed.verdict(name, version))?.failure ?? null),
      new_agents: version === offer.fresh && why === null,
      upgrade: version === offer.upgrade && why === null,
    });
  }
  return withFallback(states);
}

/** An offered version that must not be offered is replaced by the one that Lodge brings. */
function withFallback(states: readonly VersionState[]): VersionState[] {
  const [first, ...rest] = states;
  const isNone = (what: 'new_agents' | 'upgrade'): boolean => !states.some((state) => state[what]);
  const new_agents = first!.new_agents || isNone('new_agents');
  return [{ ...first!, new_agents, upgrade: first!.upgrade || isNone('upgrade') }, ...rest];
}

async function inRegistry({ log }: Runtimes, { runtime }: Known): Promise<RuntimeState['registry']> {
  const { source } = runtime;
  try {
    const all = await releasedVersions(source, {
      log: { ...log, error: () => undefined },
      signal: AbortSignal.timeout(registryTimeoutMs),
    });
    const newer = all.filter((version) => newestFirst(version, runtime.version) < 0);
    return { name: source.registry, newest: all[0] ?? null, newer, error: null };
  } catch (error) {
    return {
      name: source.registry,
      newest: null,
      newer: [],
      error: error instanceof Error ? error.message : String(error),
    };
  }
}

function print({ runtime, versions, registry }: RuntimeState): void {
  say(runtime);
  for (const state of versions) say(`  ${state.version.padEnd(12)} ${inWords(state).join(', ')}`);
  const { name, newest, newer, error } = registry;
  if (error !== null) say(`  ${name.padEnd(12)} could not be asked: ${error}`);
  else if (newer.length === 0) say(`  ${name.padEnd(12)} has ${newest ?? 'none'}; nothing is newer`);
  else {
    const shown = newer.slice(0, shownNewer).join(', ');
    say(`  ${name.padEnd(12)} has newer: ${shown} (npm run lodge -- runtimes update ${runtime})`);
  }
}

function inWords({
  comes,
  image,
  has_template,
  agents,
  kept_because,
  failing,
  new_agents,
  upgrade,
}: VersionState): string[] {
  const words: string[] = [comes === 'with Lodge' ? 'comes with Lodge' : image === null ? 'not built' : 'installed'];
  if (image !== null) words.push(`image ${image.slice(0, 12)}`, has_template ? 'template ready' : 'no template');
  if (agents !== null) words.push(`${agents} ${agents === 1 ? 'agent' : 'agents'}`);
  if (kept_because !== null)
    words.push(`kept from agents: ${firstLine(failing?.case ?? failing?.reason ?? kept_because)}`);
  if (new_agents) words.push('for new agents');
  if (upgrade) words.push('for upgrades');
  return words;
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!;
