import { Resolver } from 'node:dns/promises';
import { type Address, type Rcode, rcodes } from './message.ts';

const timeoutMs = 2000;
const tries = 2;
/**
 * Concurrent questions of all guests together; the last quarter is for guests without another running question, however many
 * a few guests ask.
 */
const mostUnderWay = 256;
const mostOfMany = 192;

const rcodeOf: Readonly<Record<string, Rcode>> = { ENOTFOUND: rcodes.noSuchName, ENODATA: rcodes.ok };

/** The host's name servers. They follow a name's aliases. */
export class NameServers {
  private readonly resolver: Resolver | null = null;
  private underWay = 0;

  constructor(servers: readonly string[]) {
    if (servers.length === 0) return;
    this.resolver = new Resolver({ timeout: timeoutMs, tries, maxTimeout: timeoutMs });
    this.resolver.setServers(servers);
  }

  /** Returns the IPv4 addresses of a name. Never rejects. `isAlone`: the guest has no other running question. */
  async addressesOf(
    name: string,
    { isAlone }: { readonly isAlone: boolean },
  ): Promise<{ readonly rcode: Rcode; readonly addresses: readonly Address[] }> {
    const isFull = this.underWay >= (isAlone ? mostUnderWay : mostOfMany);
    if (this.resolver === null || isFull) return { rcode: rcodes.failed, addresses: [] };
    this.underWay++;
    try {
      return { rcode: rcodes.ok, addresses: await this.resolver.resolve4(name, { ttl: true }) };
    } catch (error) {
      return { rcode: rcodeOf[(error as NodeJS.ErrnoException).code ?? ''] ?? rcodes.failed, addresses: [] };
    } finally {
      this.underWay--;
    }
  }
}
