import { run } from './commands.ts';
import { type NetworkPlan, overlaps, parseRange } from './plan.ts';

interface Route {
  readonly dst: string;
  readonly dev?: string;
}

export interface RangeUse {
  /** Another program's route that overlaps the range, in words; null: none. */
  readonly conflict: string | null;
  /** Whether links of this instance have addresses or routes outside the range: it ran with another range before. */
  readonly moved: boolean;
}

/** Whether it is a default route, or one of the halves that a VPN lays over it: every range overlaps those, rightly. */
const isDefault = (prefix: number): boolean => prefix < 8;

/** Compares the host's routes, in all their tables, with the plan's range. */
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
