import { run } from './commands.ts';
import { type NetworkPlan, overlaps, parseRange } from './plan.ts';

interface Route {
  readonly dst: string;
  readonly dev?: string;
}

export interface RangeUse {
  /** A route of someone else that overlaps the range, in words; null: none. */
  readonly conflict: string | null;
  /** Addresses or routes outside the range on links of this instance: it ran with another range before. */
  readonly moved: boolean;
}

/** Default routes, also the halves of one that a VPN lays over it: every range overlaps them, and that is as it should be. */
const isDefault = (prefix: number): boolean => prefix < 8;

/** What the host's routes, in all their tables, say about the plan's range. */
export async function rangeUse(plan: NetworkPlan): Promise<RangeUse> {
  const range = parseRange(plan.range)!;
  const routes = JSON.parse(await run('ip', ['-json', '-4', 'route', 'show', 'table', 'all'])) as Route[];
  let conflict: string | null = null;
  let moved = false;
  for (const { dst, dev } of routes) {
    const block = parseRange(dst);
    if (block === null || isDefault(block.prefix)) continue;
    const within = overlaps(block, range);
    if (dev?.startsWith(plan.linkPrefix)) moved ||= !within;
    else if (within) conflict ??= dev === undefined ? dst : `${dst} on ${dev}`;
  }
  return { conflict, moved };
}
