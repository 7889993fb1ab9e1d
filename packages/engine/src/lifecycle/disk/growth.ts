import type { DiskGrowth } from '@lodge/domain';
import type { DiskUse } from '@lodge/ports';

/** Earlier writing does not show who fills the disk now. */
const windowMs = 10_000;

interface Sample {
  readonly at: number;
  readonly diskMib: number;
}

/** The recent growth of each agent's disk. */
export class Growth {
  private readonly samples = new Map<string, readonly Sample[]>();

  /** Adds samples. `now` is in milliseconds, of any clock that only goes forward. */
  add(uses: readonly DiskUse[], now: number): void {
    for (const { agentId, diskMib } of uses) {
      const earlier = this.samples.get(agentId) ?? [];
      // The growth within the window begins at the last sample before it.
      const from = Math.max(
        0,
        earlier.findLastIndex(({ at }) => at <= now - windowMs),
      );
      this.samples.set(agentId, [...earlier.slice(from), { at: now, diskMib }]);
    }
  }

  of(uses: readonly DiskUse[]): DiskGrowth[] {
    return uses.map(({ agentId, diskMib }) => {
      const [first] = this.samples.get(agentId) ?? [];
      return { id: agentId, grownMib: first === undefined ? 0 : diskMib - first.diskMib };
    });
  }

  /** Forgets all agents but these. */
  keep(there: ReadonlyMap<string, unknown>): void {
    for (const agentId of this.samples.keys()) if (!there.has(agentId)) this.samples.delete(agentId);
  }

  /** Begins the agent's growth anew with the next sample. */
  forget(agentId: string): void {
    this.samples.delete(agentId);
  }
}
