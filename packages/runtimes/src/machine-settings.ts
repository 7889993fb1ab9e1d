/** Settings of an agent that lie in its machine in the same way, whichever runtime it has. */
import type { GuestClient } from '@lodge/guest';
import type { AgentSettings } from '@lodge/ports';
import { applyAsking, askingInGuest } from './asking-commands.ts';
import { applyBrowser, browserInGuest } from './browser.ts';
import { applyEnvironment, environmentInGuest } from './environment.ts';
import { applyHosts, hostsInGuest } from './hosts.ts';

type MachineSettings = Pick<AgentSettings, 'env' | 'hosts' | 'asksBeforeCommands' | 'browser'>;

/** The part of a runtime's `inGuest`. Empty without any of them, so that the digests of other agents stay as they were. */
export const machineInGuest = ({ env, hosts, asksBeforeCommands, browser }: MachineSettings): object => ({
  ...environmentInGuest(env),
  ...hostsInGuest(hosts),
  ...askingInGuest(asksBeforeCommands),
  ...browserInGuest(browser),
});

export async function applyMachine(
  guest: GuestClient,
  { env, hosts, asksBeforeCommands, browser }: MachineSettings,
  signal: AbortSignal,
): Promise<void> {
  await applyHosts(guest, hosts, signal);
  await applyAsking(guest, asksBeforeCommands, signal);
  await applyEnvironment(guest, env, signal);
  await applyBrowser(guest, browser, signal);
}
