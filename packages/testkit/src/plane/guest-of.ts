import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dialTo, guestClient, noCredential, type Guest, type GuestClient } from '@lodge/guest';

/** The guest of an agent's VM, as its record below a data folder says. */
export async function guestOf(dataDir: string, agentId: string): Promise<Guest & { readonly address: string }> {
  const text = await readFile(join(dataDir, 'vms', agentId, 'vm.json'), 'utf8');
  const { address, credential } = JSON.parse(text) as { address: string; credential?: string };
  const known = credential === undefined ? noCredential : () => Promise.resolve(credential);
  return { address, dial: dialTo(address), credential: known };
}

export async function guestClientOf(dataDir: string, agentId: string): Promise<GuestClient> {
  return guestClient(await guestOf(dataDir, agentId));
}
