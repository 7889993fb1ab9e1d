import { randomInt } from 'node:crypto';
import { VmError } from '@lodge/ports';

/**
 * Numbers of VMs on this host: each names a namespace, its addresses and a user id. They are given out in turn, so that a
 * returned number is not taken again at once. The first number is random: a process that knows the number of a half-ended VM
 * after a kill must not find the next VM there.
 */
export class VmNumbers {
  private readonly taken = new Set<number>();
  private readonly count: number;
  private next: number;

  /** `first` is where the turn begins; the default is random. */
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

  /**
   * Takes the slot of an existing VM. The turn begins elsewhere, because the slots after that VM may hold remains of a kill.
   */
  keep(slot: number): void {
    this.taken.add(slot);
  }

  release(slot: number): void {
    this.taken.delete(slot);
  }
}
