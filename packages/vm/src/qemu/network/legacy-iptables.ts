import { readFile } from 'node:fs/promises';
import { run } from './commands.ts';
import type { NetworkPlan } from './plan.ts';

/**
 * The older iptables, whose rules nft neither shows nor changes: Docker or ufw use it if an operator chose
 * `iptables-legacy`. A chain that drops by default gets an accept for the guests' links, like those of nft
 * (foreign-firewall.ts).
 */
const directions = { INPUT: ['-i'], FORWARD: ['-i', '-o'], OUTPUT: ['-o'] } as const;
type Name = keyof typeof directions;
const names = Object.keys(directions) as Name[];

export interface LegacyChain {
  readonly name: Name;
  /** Existing rules for the guests' links, as arguments after the chain's name. */
  readonly ours: readonly string[];
  /** Missing rules; none if the chain lets unnamed packets pass. */
  readonly missing: readonly string[];
}

/** Another program may hold the lock; the wait for it is 5 s (iptables(8), `--wait`). */
const iptables = (...args: string[]): Promise<string> => run('iptables-legacy', ['--wait', '5', ...args]);

/** Whether rules of the older iptables are loaded. The kernel answers, because asking iptables would load them. */
export async function hasLegacyRules(): Promise<boolean> {
  const tables = await readFile('/proc/net/ip_tables_names', 'utf8').catch(() => '');
  return tables.split('\n').includes('filter');
}

/** Parses the output of `iptables-legacy -S`: a line per policy, chain and rule. */
export function legacyChainsOf(listing: string, linkPrefix: string): LegacyChain[] {
  const lines = listing.split('\n').map((line) => line.trim());
  return names.map((name) => {
    const rules = lines.filter((line) => line.startsWith(`-A ${name} `)).map((line) => line.slice(4 + name.length));
    const wanted = directions[name].map((direction) => `${direction} ${linkPrefix}+ -j ACCEPT`);
    const last = rules.at(-1) ?? '';
    const isClosed = lines.includes(`-P ${name} DROP`) || last === '-j DROP' || last.startsWith('-j REJECT');
    return {
      name,
      ours: rules.filter((rule) => wanted.includes(rule)),
      missing: isClosed ? wanted.filter((rule) => !rules.includes(rule)) : [],
    };
  });
}

/** Returns none if no rules of the older iptables are loaded. Rejects if they are loaded and cannot be listed. */
export async function legacyChains({ linkPrefix }: NetworkPlan): Promise<LegacyChain[]> {
  return (await hasLegacyRules()) ? legacyChainsOf(await iptables('--list-rules'), linkPrefix) : [];
}

/** Opens every closed chain to the guests' links. Returns whether one was opened now. */
export async function openLegacyChains(plan: NetworkPlan): Promise<boolean> {
  const shut = (await legacyChains(plan)).filter(({ missing }) => missing.length > 0);
  for (const { name, missing } of shut)
    for (const rule of missing) await iptables('--insert', name, ...rule.split(' '));
  return shut.length > 0;
}

/** Takes the instance's rules out again. */
export async function closeLegacyChains(plan: NetworkPlan): Promise<void> {
  for (const { name, ours } of await legacyChains(plan))
    for (const rule of ours) await iptables('--delete', name, ...rule.split(' '));
}
