import { hash } from 'node:crypto';
import type { AgentRuntime, AgentSettings } from '@lodge/ports';

/** Of a guest as its template makes it. */
export const templateSettings = 'template';

/** Names what of the settings is to be in effect in the guest: `AgentRow.settingsApplied` once it is. */
export function settingsDigest(runtime: AgentRuntime, settings: AgentSettings): string {
  const wanted = runtime.inGuest(settings);
  if (wanted === null) return templateSettings;
  return hash('sha256', JSON.stringify(wanted), 'base64url');
}
