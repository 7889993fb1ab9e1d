/** Those settings of an agent that lie in its guest. Model and provider are chosen with each request. */
import type { AgentSettings } from '@lodge/ports';
import { applyAsking, askingInGuest } from '../asking-commands.ts';
import { applyBrowser, browserInGuest } from '../browser.ts';
import { applyEnvironment, environmentInGuest } from '../environment.ts';
import { applyHosts, hostsInGuest } from '../hosts.ts';
import { applyDashboard } from './dashboard.ts';
import type { HermesGuest } from './gateway.ts';
import { applyInstructions } from './soul.ts';

export function inGuest(settings: AgentSettings): object | null {
  const { instructions, dashboard, env, hosts, asksBeforeCommands, browser } = settings;
  const more = {
    ...environmentInGuest(env),
    ...hostsInGuest(hosts),
    ...askingInGuest(asksBeforeCommands),
    ...browserInGuest(browser),
  };
  if (instructions === null && !dashboard && Object.keys(more).length === 0) return null;
  return { instructions, dashboard, ...more };
}

export async function applySettings(
  runtime: HermesGuest,
  address: string,
  { instructions, dashboard, env, hosts, asksBeforeCommands, browser }: AgentSettings,
  signal: AbortSignal,
): Promise<void> {
  const { guest } = runtime;
  await applyHosts(guest, hosts, signal);
  await applyAsking(guest, asksBeforeCommands, signal);
  await applyEnvironment(guest, env, signal);
  await applyBrowser(guest, browser, signal);
  await applyInstructions(runtime, instructions, signal);
  await applyDashboard(runtime, address, dashboard, signal);
  await guest.sync(false, { signal });
}
