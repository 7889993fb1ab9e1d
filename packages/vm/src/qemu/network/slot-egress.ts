import type { EgressRules } from '@lodge/domain';
import type { RefusedConnection } from '@lodge/ports';
import { type Allowance, type Pin, allowanceOf, egressRules, mostPins, pinText } from './egress-rules.ts';
import type { NetworkPlan } from './plan.ts';
import { RefusalWatch, type Seen, readRefusals } from './refused.ts';
import type { SlotFirewall } from './slot-firewall.ts';

/** The result of `readRefused`. */
export interface Refused {
  readonly refused: readonly RefusedConnection[];
  readonly more: number;
}

/** Most refusals of one result. */
const maxReported = 100;
const mostNameLength = 253;

/** The map of pins in the output of `nft -j`. */
interface PinListing {
  readonly nftables: readonly {
    readonly map?: {
      readonly elem?: readonly (readonly [
        { readonly elem: { readonly val: string; readonly expires: number } },
        number,
      ])[];
    };
  }[];
}

/**
 * The egress rules of one slot's guest. The kernel's sets are the truth. The copy here lets a repeated name cost no process.
 * Until `set` is called after a start, nothing is known here and no name of the guest is answered. Changes happen one after
 * the other, and none after `end`.
 */
export class SlotEgress {
  /** Null while every public address is allowed. */
  allowance: Allowance | null = null;
  private readonly plan: NetworkPlan;
  private readonly firewall: SlotFirewall;
  private rules: EgressRules | null = null;
  private pins = new Map<string, Pin>();
  private names = new Map<string, Date>();
  private moreNames = 0;
  private readonly watch = new RefusalWatch();
  private ended = false;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(plan: NetworkPlan, firewall: SlotFirewall) {
    this.plan = plan;
    this.firewall = firewall;
  }

  /** Begins with a namespace that is made with these rules. */
  begin(rules: EgressRules): void {
    this.rules = rules;
    this.allowance = allowanceOf(rules);
  }

  /**
   * Puts the rules in effect, on open connections too. Pins of entries that stay remain valid. Repeating the same rules
   * succeeds at once.
   */
  set(rules: EgressRules): Promise<void> {
    return this.inTurn(async () => {
      if (this.rules !== null && isSame(this.rules, rules)) return;
      const known = this.rules !== null;
      // Until the kernel has them, no name is answered, because the old rules may not be in effect any more.
      this.rules = null;
      const allowance = allowanceOf(rules);
      const marks = new Set(allowance?.names.map(({ mark }) => mark));
      const pins = known ? [...this.pins.values()] : await this.readPins();
      const kept = pins.filter(({ mark, until }) => marks.has(mark) && until > Date.now());
      await this.firewall.apply(egressRules(this.plan, allowance, kept));
      this.pins = new Map(kept.map((pin) => [pin.address, pin]));
      this.allowance = allowance;
      this.rules = rules;
    });
  }

  /**
   * Lets the guest reach the addresses of a name that `mark`'s entry allows until then (ms since 1970). Rejects when the
   * entry no longer does, or there are too many pins.
   */
  pin(addresses: readonly string[], mark: number, until: number): Promise<void> {
    return this.inTurn(async () => {
      this.assertLive(mark);
      const now = Date.now();
      for (const [address, pin] of this.pins) if (pin.until <= now) this.pins.delete(address);
      const wanted = addresses.filter((address) => (this.pins.get(address)?.until ?? 0) < until);
      if (this.pins.size + wanted.length > mostPins) throw new Error('too many addresses are pinned');
      if (wanted.length === 0) return;
      const pins = wanted.map((address): Pin => {
        // Two entries may have one address: the first one keeps it, or its connections would be cut.
        return { address, mark: this.pins.get(address)?.mark ?? mark, until };
      });
      await this.firewall
        .apply(pins.map((pin) => pinText(pin, this.pins.get(pin.address))).join(''))
        .catch(async (error: unknown) => {
          // The copy here and the kernel's state differ; the next question finds them equal again.
          this.pins = new Map((await this.readPins()).map((pin) => [pin.address, pin]));
          throw error;
        });
      for (const pin of pins) this.pins.set(pin.address, pin);
    });
  }

  /** Notes a name that was asked for and not answered. Bounded, because the guest chose it. */
  refuse(name: string): void {
    const printable = name.slice(0, mostNameLength).replaceAll(/[^ -~]/g, '?');
    if (this.names.has(printable)) return;
    if (this.names.size < maxReported) this.names.set(printable, new Date());
    else this.moreNames++;
  }

  /** The refusals since the last call, oldest first. With `seen` the kernel is asked only if that is worth a process. */
  readRefused(seen?: Seen): Promise<Refused> {
    return this.inTurn(async () => {
      const isDue = seen === undefined || (await this.watch.isDue(seen));
      const { refused, more } = isDue ? await readRefusals(this.firewall.namespace) : { refused: [], more: 0 };
      const names = [...this.names].map(([name, at]): RefusedConnection => ({
        at,
        protocol: 'dns',
        address: null,
        port: null,
        name,
      }));
      const all = [...refused, ...names].toSorted((a, b) => a.at.getTime() - b.at.getTime());
      const reported = {
        refused: all.slice(0, maxReported),
        more: more + this.moreNames + Math.max(0, all.length - maxReported),
      };
      this.names = new Map();
      this.moreNames = 0;
      return reported;
    });
  }

  /** Waits for running changes; none comes after it. */
  async end(): Promise<void> {
    this.ended = true;
    await this.turn;
  }

  private assertLive(mark: number): void {
    if (this.rules !== null && this.allowance?.names.some((name) => name.mark === mark)) return;
    throw new Error('the name is no longer allowed');
  }

  private async readPins(): Promise<Pin[]> {
    const { nftables } = JSON.parse(await this.firewall.list('map', 'inet', 'lodge', 'pins')) as PinListing;
    const elements = nftables.flatMap(({ map }) => map?.elem ?? []);
    return elements.map(([{ elem }, mark]) => ({ address: elem.val, mark, until: Date.now() + elem.expires * 1000 }));
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.turn.then(() => {
      if (this.ended) throw new Error('the guest’s network is gone');
      return work();
    });
    this.turn = result.catch(() => undefined);
    return result;
  }
}

function isSame(a: EgressRules, b: EgressRules): boolean {
  return a.mode === b.mode && a.allow.length === b.allow.length && a.allow.every((entry, i) => entry === b.allow[i]);
}
