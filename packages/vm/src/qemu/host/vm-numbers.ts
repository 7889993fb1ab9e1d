import { randomInt } from 'node:crypto';
import { VmError } from '@lodge/ports';

/**
 * Numbers of VMs on this host: each names a namespace, its addresses and a user id. Handed out in turn, so that one given back
 * is not taken again at once. The first is by chance: after a kill, who still knows the number of a VM that it ended half-way
 * must not find the next VM there.
 */
export class VmNumbers {
  private readonly taken = new Set<number>();
  private readonly count: number;
  private next: number;

  /** `first`: where the turn begins; default: anywhere. */
  constructor(count: number, first: number = randomInt(count)) {
    this.count = count;
    this.next = first;
  }

  claim(): number {
    for (let tried = 0; tried < this.count; tried += 1) {
      const slot = (this.next + tried) % this.count;
      if (this.taken.has(slot)) continue;
      this.taken.add(slot);
      this.next = slot + 1;
      return slot;
    }
    throw new VmError('no_capacity', `all ${this.count} slots of the network range are taken`);
  }

  /** Takes the slot a VM from before has. The turn begins elsewhere: what comes after that VM may be what a kill left. */
  keep(slot: number): void {
    this.taken.add(slot);
  }

  release(slot: number): void {
    this.taken.delete(slot);
  }
}
