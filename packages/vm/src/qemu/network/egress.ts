import { type EgressRules, publicEgress } from '@lodge/domain';
import { type NetworkPlan, blockTest } from './plan.ts';
import type { PinBounds } from './resolver/lookups.ts';
import { NamesProcess } from './resolver/names-process.ts';
import type { Unprivileged } from './resolver/names-process.ts';
import { paceOfReads } from './refused.ts';
import { type Refused, SlotEgress } from './slot-egress.ts';
import type { SlotFirewall } from './slot-firewall.ts';

const usualPinBounds: PinBounds = { leastSeconds: 60, mostSeconds: 3600 };

export interface EgressOptions {
  readonly firewallOf: (slot: number) => SlotFirewall;
  readonly pinBounds?: PinBounds | undefined;
  readonly unprivileged?: Unprivileged | undefined;
  readonly log: (message: string) => void;
}

/** Egress rules of every slot, and the process that looks up the names of those that have an allow list. */
export class Egress {
  private readonly plan: NetworkPlan;
  private readonly firewallOf: (slot: number) => SlotFirewall;
  private readonly pace = paceOfReads();
  private readonly bySlot = new Map<number, SlotEgress>();
  private readonly byAddress = new Map<string, SlotEgress>();
  private readonly names: NamesProcess;

  constructor(plan: NetworkPlan, { firewallOf, pinBounds = usualPinBounds, unprivileged, log }: EgressOptions) {
    this.plan = plan;
    this.firewallOf = firewallOf;
    const { brokerHost: address, namesPort: port, nameServers, closedBlocks, guests } = plan;
    this.names = new NamesProcess({
      serve: { address, port, nameServers, pinBounds, closedBlocks },
      guests,
      unprivileged,
      pin: async (guest, { addresses, mark, until }) => this.byAddress.get(guest)!.pin(addresses, mark, until),
      refuse: (guest, name) => this.byAddress.get(guest)?.refuse(name),
      isClosed: blockTest(closedBlocks),
      log,
    });
  }

  start(): Promise<void> {
    return this.names.start();
  }

  stop(): void {
    this.names.stop();
  }

  /** Begins a slot whose namespace is about to be made with these rules in its firewall. */
  begin(slot: number, rules: EgressRules = publicEgress): void {
    this.of(slot).begin(rules);
    this.tell(slot);
  }

  async set(slot: number, rules: EgressRules): Promise<void> {
    const egress = this.of(slot);
    try {
      await egress.set(rules);
    } finally {
      if (this.bySlot.get(slot) === egress) this.tell(slot);
    }
  }

  readRefused(slot: number, emulator?: number): Promise<Refused> {
    const shared = { guests: this.bySlot.size, pace: this.pace };
    return this.of(slot).readRefused(emulator === undefined ? undefined : { ...shared, emulator });
  }

  /** Ends a slot before its namespace goes: the next user of the slot gets none of its state. */
  async end(slot: number): Promise<void> {
    const egress = this.bySlot.get(slot);
    const address = this.plan.slotAddresses(slot).guestSide;
    this.bySlot.delete(slot);
    this.byAddress.delete(address);
    this.names.forget(address);
    await egress?.end();
  }

  private of(slot: number): SlotEgress {
    const there = this.bySlot.get(slot);
    if (there) return there;
    const egress = new SlotEgress(this.plan, this.firewallOf(slot));
    this.bySlot.set(slot, egress);
    this.byAddress.set(this.plan.slotAddresses(slot).guestSide, egress);
    return egress;
  }

  /** The process learns changed rules after they are in effect: requests by older rules are not pinned. */
  private tell(slot: number): void {
    const names = this.of(slot).allowance?.names ?? null;
    this.names.allow(this.plan.slotAddresses(slot).guestSide, names);
  }
}
