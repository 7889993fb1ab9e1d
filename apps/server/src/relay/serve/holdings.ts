import { LeaseLost } from '@lodge/ports';
import type { FileOwner, Lease, LeaseRef } from '@lodge/ports';

type Holding = LeaseRef & Pick<Lease, 'accountId'>;

/**
 * The leases of one relay process, by numbers that mean nothing elsewhere. The process names a channel only by such a
 * number, so it can ask for no channel of another process.
 */
export class Holdings {
  private readonly byNumber = new Map<number, Holding>();
  /** The last two of each channel: the outcome of a send is reported under the lease that it was begun under. */
  private readonly ofChannel = new Map<string, readonly number[]>();
  private next = 1;

  add({ agentId, accountId, channel, number }: Holding): number {
    const handle = this.next++;
    const before = this.ofChannel.get(keyOf(agentId, channel)) ?? [];
    for (const old of before.slice(0, -1)) this.byNumber.delete(old);
    this.ofChannel.set(keyOf(agentId, channel), [...before.slice(-1), handle]);
    this.byNumber.set(handle, { agentId, accountId, channel, number });
    return handle;
  }

  /** Throws `LeaseLost` for a number that was never given, or long ago. */
  of(handle: number): Holding {
    const holding = this.byNumber.get(handle);
    if (holding === undefined) throw new LeaseLost();
    return holding;
  }

  /** The owner of incoming files for that agent. Throws `LeaseLost` if this process has no channel of the agent. */
  ownerOf(agentId: string): FileOwner {
    const holding = this.byNumber.values().find((each) => each.agentId === agentId);
    if (holding === undefined) throw new LeaseLost();
    return { accountId: holding.accountId, agentId, way: 'in' };
  }

  /** Returns the existing ones. */
  all(handles: readonly number[]): readonly Holding[] {
    return handles.flatMap((handle) => this.byNumber.get(handle) ?? []);
  }

  /** The number of the newest lease of a channel that has this number in the database. */
  handleOf({ agentId, channel, number }: LeaseRef): number | null {
    const handles = this.ofChannel.get(keyOf(agentId, channel)) ?? [];
    return handles.findLast((handle) => this.byNumber.get(handle)?.number === number) ?? null;
  }
}

const keyOf = (agentId: string, channel: string): string => `${agentId}/${channel}`;
