import { Resolver } from 'node:dns/promises';
import { type Address, type Rcode, rcodes } from './message.ts';

const timeoutMs = 2000;
const tries = 2;
/** For all guests together. */
const mostUnderWay = 256;

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

  /** IPv4 addresses of a name. Never rejects. */
  async addressesOf(name: string): Promise<{ readonly rcode: Rcode; readonly addresses: readonly Address[] }> {
    if (this.resolver === null || this.underWay >= mostUnderWay) return { rcode: rcodes.failed, addresses: [] };
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
