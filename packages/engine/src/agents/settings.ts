import { hash } from 'node:crypto';
import { packageManagers } from '@lodge/domain';
import type { Packages } from '@lodge/domain';
import type { AgentRuntime, AgentSettings } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';

/** The digest of a guest as its template makes it. */
export const templateSettings = 'template';

/** A digest of the settings for the guest. `AgentRow.settingsApplied` has it once they are in effect. */
export function settingsDigest(runtime: AgentRuntime, settings: AgentSettings): string {
  const wanted = runtime.inGuest(settings);
  if (wanted === null) return templateSettings;
  return hash('sha256', JSON.stringify(wanted), 'base64url');
}

/** The digest of no packages, which is a guest as its template makes it. */
export const nothingInstalled = 'none';

/** Rises with every change of the place or the way in which packages are put into a guest. They are then installed anew. */
const packagesVersion = 1;

/** A digest of the wanted packages. `AgentRow.packagesApplied` has it once they are installed. */
export function packagesDigest(packages: Packages): string {
  if (packageManagers.every((manager) => packages[manager].length === 0)) return nothingInstalled;
  const lists = packageManagers.map((manager) => packages[manager]);
  return hash('sha256', JSON.stringify([packagesVersion, lists]), 'base64url');
}

/** The digest of no skills, which is a guest as its template makes it. An agent that had skills never has it again. */
export const nothingPlaced = 'none';

/** Rises with every change of the place or the way in which skills are put into a guest. They are then put there anew. */
const skillsVersion = 1;

/**
 * A digest of the wanted skills, of the members that see them, and of the variables and packages that decide how: a runtime is
 * asked again when these have changed. `AgentRow.skillsApplied` has it once they are in the guest.
 */
export function skillsDigest({
  skillsWanted,
  members,
  env,
  packagesApplied,
}: Pick<AgentRow, 'skillsWanted' | 'members' | 'env' | 'packagesApplied'>): string {
  if (skillsWanted === nothingPlaced) return nothingPlaced;
  const wanted = [skillsVersion, skillsWanted, members.map(({ name }) => name)];
  // While packages are being installed the machine is as it was for the skills.
  const around = [env, packagesApplied ?? nothingInstalled];
  return hash('sha256', JSON.stringify([...wanted, ...around]), 'base64url');
}

/** Whether the machine will shortly have wanted skills that it lacks. After a failure nobody waits for the next try. */
export const awaitsSkills = (row: AgentRow): boolean =>
  row.skillsError === null && row.skillsApplied !== skillsDigest(row);
