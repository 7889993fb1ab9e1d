import { type EgressRules, publicEgress } from '@lodge/domain';
import { type NetworkPlan, blockTest } from './plan.ts';
import { Lookups, type PinBounds } from './resolver/lookups.ts';
import { NameServers } from './resolver/name-servers.ts';
import { NameResolver } from './resolver/resolver.ts';
import { paceOfReads } from './refused.ts';
import { type Refused, SlotEgress } from './slot-egress.ts';
import type { SlotFirewall } from './slot-firewall.ts';

const usualPinBounds: PinBounds = { leastSeconds: 60, mostSeconds: 3600 };

/** Egress rules of every slot, and the resolver that serves those that have an allow list. */
export class Egress {
  private readonly plan: NetworkPlan;
  private readonly firewallOf: (slot: number) => SlotFirewall;
  private readonly upstream;
  private readonly pace = paceOfReads();
  private readonly bySlot = new Map<number, Lookups>();
  private readonly byAddress = new Map<string, Lookups>();
  private readonly resolver = new NameResolver((address) => this.byAddress.get(address) ?? null);

  constructor(
    plan: NetworkPlan,
    options: { readonly firewallOf: (slot: number) => SlotFirewall; readonly pinBounds?: PinBounds | undefined },
  ) {
    this.plan = plan;
    this.firewallOf = options.firewallOf;
    this.upstream = {
      nameServers: new NameServers(plan.nameServers),
      pinBounds: options.pinBounds ?? usualPinBounds,
      isClosed: blockTest(plan.closedBlocks),
    };
  }

  start(): Promise<void> {
    return this.resolver.start(this.plan.brokerHost, this.plan.namesPort);
  }

  stop(): void {
    this.resolver.stop();
  }

  /** Of a slot whose namespace is about to be made with these rules in its firewall. */
  begin(slot: number, rules: EgressRules = publicEgress): void {
    this.lookups(slot).egress.begin(rules);
  }

  set(slot: number, rules: EgressRules): Promise<void> {
    return this.lookups(slot).egress.set(rules);
  }

  readRefused(slot: number, emulator?: number): Promise<Refused> {
    const shared = { guests: this.bySlot.size, pace: this.pace };
    return this.lookups(slot).egress.readRefused(emulator === undefined ? undefined : { ...shared, emulator });
  }

  /** Before the slot's namespace goes: whoever has it next has nothing of this one's. */
  async end(slot: number): Promise<void> {
    const lookups = this.bySlot.get(slot);
    this.bySlot.delete(slot);
    this.byAddress.delete(this.plan.slotAddresses(slot).guestSide);
    await lookups?.egress.end();
  }

  private lookups(slot: number): Lookups {
    const there = this.bySlot.get(slot);
    if (there) return there;
    const lookups = new Lookups(new SlotEgress(this.plan, this.firewallOf(slot)), this.upstream);
    this.bySlot.set(slot, lookups);
    this.byAddress.set(this.plan.slotAddresses(slot).guestSide, lookups);
    return lookups;
  }
}
