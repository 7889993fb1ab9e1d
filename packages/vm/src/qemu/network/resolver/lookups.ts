import { TokenBucket } from '@lodge/domain';
import type { AllowedName } from '../egress-rules.ts';
import { allowedBy } from '../egress-rules.ts';
import { type Address, type Question, type Rcode, mostAnswers, rcodes } from './message.ts';
import type { NameServers } from './name-servers.ts';

/** How long addresses stay pinned, seconds: the record's own lifetime within these bounds. */
export interface PinBounds {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
}

/** The names that a guest may look up, and the effects of its look-ups. */
export interface GuestNames {
  /** Null while its rules are unknown, or name nothing. It is another object once they change. */
  readonly allowance: { readonly names: readonly AllowedName[] } | null;
  /** Notes a name that the guest asked for and that was not answered. */
  refuse(name: string): void;
  /** Lets the guest reach the addresses of a name that `mark`'s entry allows. Rejects when the entry no longer does. */
  pin(addresses: readonly string[], mark: number, seconds: number): Promise<void>;
}

type Allowance = NonNullable<GuestNames['allowance']>;

export interface Upstream {
  readonly nameServers: NameServers;
  readonly pinBounds: PinBounds;
  /** Whether no guest may reach an address, whatever name has it. */
  readonly isClosed: (address: string) => boolean;
}

export interface Reply {
  readonly rcode: Rcode;
  readonly addresses: readonly Address[];
}

/** The found addresses of a name, answered again until then (ms since 1970) while the rules are the same. */
interface Known {
  readonly addresses: readonly string[];
  readonly until: number;
  readonly allowance: Allowance;
}

/** Concurrent look-ups; each has one running pin at most. */
export const mostLookupsOfGuest = 8;
const mostKnown = 256;
/**
 * Bound on a guest's questions, and on those that go on to the host's name servers: a name below `*.host` may carry the
 * guest's own data there.
 */
const questions = { perSecond: 20, burst: 100 };
const questionsUpstream = { perSecond: 1, burst: 60 };

const nothing = (rcode: Rcode): Reply => ({ rcode, addresses: [] });
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const hostName = new RegExp(`^${label}(?:\\.${label})*$`);
const longestName = 253;
const isHostName = (name: string): boolean => name.length <= longestName && hostName.test(name);

/** One guest's look-ups. Only allowed names are looked up, and their addresses are pinned before the guest learns them. */
export class Lookups {
  private readonly guest: GuestNames;
  private readonly upstream: Upstream;
  private readonly budget = new TokenBucket(questions);
  private readonly upstreamBudget = new TokenBucket(questionsUpstream);
  private readonly known = new Map<string, Known>();
  private underWay = 0;

  constructor(guest: GuestNames, upstream: Upstream) {
    this.guest = guest;
    this.upstream = upstream;
  }

  /** Null: no reply. */
  async answer({ name, type }: Question): Promise<Reply | null> {
    if (!this.budget.allows(1, performance.now())) return null;
    const { allowance } = this.guest;
    // The guest's rules are unknown or name nothing, so it does not look names up here.
    if (allowance === null) return nothing(rcodes.failed);
    const asked = name.toLowerCase();
    const allowed = isHostName(asked) ? allowedBy(allowance, asked) : null;
    if (allowed === null) {
      this.guest.refuse(name);
      return nothing(rcodes.noSuchName);
    }
    // Guests have no IPv6. Other records are not looked up, because they could carry data through a resolver.
    if (type !== 'A') return nothing(rcodes.ok);
    const known = this.known.get(asked);
    if (known?.allowance === allowance && known.until > Date.now()) return asReply(known);
    return this.lookUp(asked, allowed, allowance).catch(() => nothing(rcodes.failed));
  }

  private async lookUp(asked: string, { mark }: AllowedName, allowance: Allowance): Promise<Reply> {
    if (this.underWay >= mostLookupsOfGuest || !this.upstreamBudget.allows(1, performance.now()))
      return nothing(rcodes.failed);
    this.underWay++;
    try {
      const isAlone = this.underWay === 1;
      const { rcode, addresses } = await this.upstream.nameServers.addressesOf(asked, { isAlone });
      const open = addresses.filter(({ address }) => !this.upstream.isClosed(address)).slice(0, mostAnswers);
      if (open.length === 0) {
        // A public name has an address of this network. That is DNS rebinding or a mistake; both are reported.
        if (addresses.length > 0) this.guest.refuse(asked);
        return nothing(rcode);
      }
      const seconds = this.lifeSeconds(open);
      const now = Date.now();
      const found = { addresses: open.map(({ address }) => address), allowance };
      await this.guest.pin(found.addresses, mark, seconds);
      // The name is looked up again while the pin has half its time left, so that whoever gets an address from here can
      // connect to it.
      const known = { ...found, until: now + seconds * 500 };
      this.remember(asked, known);
      return asReply(known);
    } finally {
      this.underWay--;
    }
  }

  private lifeSeconds(records: readonly Address[]): number {
    const { leastSeconds, mostSeconds } = this.upstream.pinBounds;
    return Math.min(mostSeconds, Math.max(leastSeconds, ...records.map(({ ttl }) => ttl)));
  }

  private remember(name: string, known: Known): void {
    this.known.delete(name);
    this.known.set(name, known);
    if (this.known.size > mostKnown) this.known.delete(this.known.keys().next().value!);
  }
}

function asReply({ addresses, until }: Known): Reply {
  const ttl = Math.max(1, Math.ceil((until - Date.now()) / 1000));
  return { rcode: rcodes.ok, addresses: addresses.map((address) => ({ address, ttl })) };
}
