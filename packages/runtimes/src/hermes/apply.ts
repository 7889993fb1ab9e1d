/** Those settings of an agent that lie in its guest. Model and provider are chosen with each request. */
import type { AgentSettings, Dial } from '@lodge/ports';
import { applyMachine, machineInGuest } from '../machine-settings.ts';
import { applyDashboard } from './dashboard.ts';
import type { HermesGuest } from './gateway.ts';
import { applyInstructions } from './soul.ts';

export function inGuest(settings: AgentSettings): object | null {
  const { instructions, dashboard } = settings;
  const more = machineInGuest(settings);
  if (instructions === null && !dashboard && Object.keys(more).length === 0) return null;
  return { instructions, dashboard, ...more };
}

export async function applySettings(
  runtime: HermesGuest,
  dial: Dial,
  settings: AgentSettings,
  signal: AbortSignal,
): Promise<void> {
  const { guest } = runtime;
  const { instructions, dashboard } = settings;
  await applyMachine(guest, settings, signal);
  await applyInstructions(runtime, instructions, signal);
  await applyDashboard(runtime, dial, dashboard, signal);
  await guest.sync(false, { signal });
}
