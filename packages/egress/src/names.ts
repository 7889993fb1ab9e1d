/** Looks up the addresses of names. */
import { Resolver, lookup } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';

export type Find = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * Looks a name up as every program of the host does, with the host's files. It takes one of few threads while a name server
 * is silent.
 */
export const ofSystem: Find = (hostname, options, callback) => lookup(hostname, { ...options, all: true }, callback);

/**
 * Returns a look-up that only asks name servers and takes no thread, because names that strangers choose may lead to servers
 * that never answer. `servers` are addresses with ports; with null the host's are used.
 */
export function ofNameServers(servers: readonly string[] | null): Find {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== null) resolver.setServers(servers);
  return (hostname, options, callback) => findBy(resolver, hostname, options, callback);
}

function findBy(resolver: Resolver, ...[hostname, options, callback]: Parameters<Find>): void {
  const families = ([4, 6] as const).filter((family) => mayBe(options.family, family));
  const found: LookupAddress[] = [];
  let left = families.length;
  let failure: NodeJS.ErrnoException | null = null;
  for (const family of families) {
    const resolve = family === 4 ? resolver.resolve4.bind(resolver) : resolver.resolve6.bind(resolver);
    resolve(hostname, (error, addresses) => {
      if (error) failure ??= error;
      else found.push(...addresses.slice(0, maxAddresses).map((address) => ({ address, family })));
      left -= 1;
      if (left === 0) callback(found.length > 0 ? null : failure, found);
    });
  }
}

const maxAddresses = 16;

const mayBe = (wanted: LookupOptions['family'], family: 4 | 6): boolean =>
  !wanted || wanted === family || wanted === `IPv${family}`;
