import { hash } from 'node:crypto';
import type { AgentRuntime, AgentSettings } from '@lodge/ports';

/** The digest of a guest as its template makes it. */
export const templateSettings = 'template';

/** A digest of the settings for the guest. `AgentRow.settingsApplied` has it once they are in effect. */
export function settingsDigest(runtime: AgentRuntime, settings: AgentSettings): string {
  const wanted = runtime.inGuest(settings);
  if (wanted === null) return templateSettings;
  return hash('sha256', JSON.stringify(wanted), 'base64url');
}
