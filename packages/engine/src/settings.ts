import { createHash } from 'node:crypto';
import type { AgentRuntime, AgentSettings } from './ports/index.ts';

/** Of a guest as its template makes it. */
export const templateSettings = 'template';

/** Names what of the settings is to be in effect in the guest: `AgentRow.settingsApplied` once it is. */
export function settingsDigest(runtime: AgentRuntime, settings: AgentSettings): string {
  const wanted = runtime.inGuest(settings);
  if (wanted === null) return templateSettings;
  return createHash('sha256').update(JSON.stringify(wanted)).digest('base64url');
}
