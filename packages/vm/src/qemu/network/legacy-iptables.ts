import { readFile } from 'node:fs/promises';
import { run } from './commands.ts';
import type { NetworkPlan } from './plan.ts';

/**
 * The older iptables, whose rules nft neither shows nor changes: Docker or ufw use them where an operator chose `iptables-legacy`. A chain that drops by default gets
 * an accept for the guests' links, as those of nft do (foreign-firewall.ts).
 */
const directions = { INPUT: ['-i'], FORWARD: ['-i', '-o'], OUTPUT: ['-o'] } as const;
type Name = keyof typeof directions;
const names = Object.keys(directions) as Name[];

export interface LegacyChain {
  readonly name: Name;
  /** Rules for the guests' links that are there, as arguments after the chain's name. */
  readonly ours: readonly string[];
  /** Those that are missing; none where the chain lets through what no rule names. */
  readonly missing: readonly string[];
}

/** Another program may hold the lock: 5 s are waited for it (iptables(8), `--wait`). */
const iptables = (...args: string[]): Promise<string> => run('iptables-legacy', ['--wait', '5', ...args]);

/** True when rules of the older iptables are loaded. Asked of the kernel, for asking iptables would load them. */
export async function hasLegacyRules(): Promise<boolean> {
  const tables = await readFile('/proc/net/ip_tables_names', 'utf8').catch(() => '');
  return tables.split('\n').includes('filter');
}

/** As `iptables-legacy -S` prints it: a line per policy, chain and rule. */
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

/** None where no rules of the older iptables are loaded. Rejects where they are and cannot be listed. */
export async function legacyChains({ linkPrefix }: NetworkPlan): Promise<LegacyChain[]> {
  return (await hasLegacyRules()) ? legacyChainsOf(await iptables('--list-rules'), linkPrefix) : [];
}

/** Opens every closed chain to the guests' links. True when one was opened now. */
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
