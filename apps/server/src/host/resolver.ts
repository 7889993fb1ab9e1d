import { readFile } from 'node:fs/promises';

/**
 * The resolver for guests, or null for none. `auto` takes the first IPv4 name server of /etc/resolv.conf that is not on this
 * machine's loopback: guests reach nothing of the host, so they could not use a stub resolver there.
 */
export async function resolverFor(setting: string): Promise<string | null> {
  if (setting === 'none') return null;
  if (setting !== 'auto') return setting;
  const text = await readFile('/etc/resolv.conf', 'utf8').catch(() => '');
  const servers = [...text.matchAll(/^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/gm)].map((match) => match[1]!);
  return servers.find((server) => !server.startsWith('127.')) ?? null;
}
