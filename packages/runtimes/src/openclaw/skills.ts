/** Skills as OpenClaw sees them. One of the workspace comes before one of the same name in the set. */
import { isJsonObject } from '@lodge/domain';
import { GatewayError } from '../gateway/calls.ts';
import { skillSetPath } from '../skills/folders.ts';
import { guestSkills } from '../skills/skills.ts';
import type { SeenSkills } from '../skills/skills.ts';
import { mainAgent } from './config.ts';
import { openclawOf } from './gateway.ts';

/** Bound, times the host's pace. Without KVM the first of each call takes OpenClaw about a minute. */
const rpcTimeoutMs = 150_000;

export const openclawSkills = guestSkills(async (guest, facts, member, signal): Promise<SeenSkills> => {
  const runtime = openclawOf(guest, facts);
  const options = { timeoutMs: rpcTimeoutMs * runtime.guest.pace, signal };
  const { skills } = await runtime.gateway
    .rpc('skills.status', { agentId: member ?? mainAgent }, options)
    .catch(absent);
  const seen = new Map<string, 'loaded' | 'shadowed'>();
  for (const { name, filePath, modelVisible } of (Array.isArray(skills) ? skills : []).filter(isJsonObject)) {
    if (!String(filePath).startsWith(`${skillSetPath}/`)) seen.set(String(name), 'shadowed');
    else if (modelVisible === true) seen.set(String(name), 'loaded');
  }
  return seen;
});

/** A member that is about to be made, or to go. */
function absent(error: unknown): { skills: [] } {
  if (error instanceof GatewayError && /unknown agent id/.test(error.message)) return { skills: [] };
  throw error;
}
