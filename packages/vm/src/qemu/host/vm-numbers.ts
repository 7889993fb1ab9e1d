import { VmError } from '@lodge/ports';

/** Numbers of VMs on this host: each names a namespace, its addresses and a user id. Handed out in turn, so that one given back is not taken again at once. */
export class VmNumbers {
  private readonly taken = new Set<number>();
  private readonly count: number;
  private next = 0;

  constructor(count: number) {
    this.count = count;
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

  /** Takes the slot a VM from before has. */
  keep(slot: number): void {
    this.taken.add(slot);
    this.next = Math.max(this.next, slot + 1);
  }

  release(slot: number): void {
    this.taken.delete(slot);
  }
}
