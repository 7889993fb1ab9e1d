import type { AgentSettings } from '@lodge/ports';
import { applyMachine, machineInGuest } from '../machine-settings.ts';
import { keepOwnerText } from '../owner-text.ts';
import { authProfiles, authProfilesName, mainAgent, workspaceOf } from './config.ts';
import { bringMembers } from './members.ts';
import type { OpenclawGuest } from './gateway.ts';

/** Rises with every change of the place or the way in which settings are put into a guest. They are then applied anew. */
const settingsVersion = 1;

/** Returns the settings that lie in the guest. Model and provider are chosen with each request. */
export function inGuest(settings: AgentSettings): object | null {
  const { instructions, members } = settings;
  const more = machineInGuest(settings);
  if (instructions === null && members.length === 0 && Object.keys(more).length === 0) return null;
  const memberSettings = members.map((member) => [member.name, member.instructions]);
  return { settingsVersion, instructions, members: memberSettings, ...more };
}

/**
 * Applies the settings of the machine, instructions and members. Instructions go into `SOUL.md` in the workspace, which
 * OpenClaw reads with every turn. A member has its instructions before it can be spoken to.
 */
export async function applySettings(
  runtime: OpenclawGuest,
  settings: AgentSettings,
  signal: AbortSignal,
): Promise<void> {
  const { guest } = runtime;
  const { instructions, members } = settings;
  await applyMachine(guest, settings, signal);
  await keepOwnerText(guest, `${workspaceOf(mainAgent)}/SOUL.md`, instructions, signal);
  for (const member of members) {
    const workspace = workspaceOf(member.name);
    await keepOwnerText(guest, `${workspace}/SOUL.md`, member.instructions, signal);
    const file = { mode: 0o600, owner: 'agent' } as const;
    await guest.writeFile(`${workspace}/${authProfilesName}`, authProfiles, file, { signal });
  }
  await bringMembers(runtime, members, signal);
  await guest.sync(false, { signal });
}
