import { NftCrashError } from './commands.ts';
import { distrustLinks, trustLinks } from './firewalld.ts';
import {
  type ForeignChain,
  closeForeignChains,
  foreignChains,
  isOfFirewalld,
  isOpenToGuests,
  nameOf,
  openChains,
} from './foreign-firewall.ts';
import { closeLegacyChains, openLegacyChains } from './legacy-iptables.ts';
import type { NetworkPlan } from './plan.ts';

/** Time until a chain that could not be opened is tried again. */
const retryMs = 60_000;

/**
 * Opens chains that other programs close by default to the guests' links. On a failure guests lose only their way out; it is
 * logged, and `doctor` gives advice.
 */
export class OtherFirewalls {
  private readonly plan: NetworkPlan;
  private readonly log: (message: string) => void;
  /** Chains that could not be opened, with the time of the next try and the logged message, which is logged only once. */
  private readonly failed = new Map<string, { readonly until: number; readonly message: string }>();

  constructor(plan: NetworkPlan, log: (message: string) => void) {
    this.plan = plan;
    this.log = log;
  }

  /** Returns whether something was opened now. May be repeated at any time. */
  async open(): Promise<boolean> {
    const shut: ForeignChain[] = [];
    let opened = await this.attempt('chains of other tables', async () => {
      shut.push(...(await foreignChains(this.plan)).filter((chain) => !isOpenToGuests(chain)));
      return false;
    });
    for (const chains of Map.groupBy(shut, ({ family, table }) => `${family} ${table}`).values()) {
      const names = chains.map(nameOf).join(', ');
      opened = (await this.attempt(names, () => openTable(this.plan, chains))) || opened;
    }
    const legacy = await this.attempt('chains of the older iptables', () => openLegacyChains(this.plan));
    return legacy || opened;
  }

  /** Removes everything that `open` made. */
  async close(): Promise<void> {
    this.failed.clear();
    await foreignChains(this.plan)
      .then(async (chains) => {
        if (chains.some(({ trusted }) => trusted)) await distrustLinks(this.plan).catch(this.tell);
        await closeForeignChains(this.plan);
      })
      .catch((error: unknown) => {
        if (!(error instanceof NftCrashError)) throw error;
        this.tell(error);
      });
    await closeLegacyChains(this.plan).catch(this.tell);
  }

  /** `work` returns whether it opened anything. */
  private async attempt(what: string, work: () => Promise<boolean>): Promise<boolean> {
    const before = this.failed.get(what);
    if (before && before.until > Date.now()) return false;
    try {
      const opened = await work();
      this.failed.delete(what);
      if (opened) this.log(`network: opened ${what} of another firewall to the guests' links`);
      return opened;
    } catch (error) {
      const { message } = error as Error;
      this.failed.set(what, { until: Date.now() + retryMs, message });
      if (message !== before?.message)
        this.log(`network: ${what} may drop what guests send and could not be opened: ${message}`);
      return false;
    }
  }

  private readonly tell = (error: Error): void =>
    this.log(`network: rules for the guests' links stay in another firewall: ${error.message}`);
}

/** Chains of one table. */
async function openTable(plan: NetworkPlan, chains: readonly ForeignChain[]): Promise<true> {
  try {
    await openChains(plan, chains);
  } catch (error) {
    if (!isOfFirewalld(chains[0]!)) throw error;
    await trustLinks(plan);
  }
  return true;
}
