/** Skills as Hermes sees them. One of the workspace comes before one of the same name in the set. */
import { sharedSkills } from '../skills/folders.ts';
import { guestSkills } from '../skills/skills.ts';
import type { SeenSkills } from '../skills/skills.ts';
import { hermesOf } from './gateway.ts';

const seeMs = 30_000;

export const hermesSkills = guestSkills(async (guest, facts, _member, signal): Promise<SeenSkills> => {
  const runtime = hermesOf(guest, facts);
  const skills = await runtime.gateway.skills({ timeoutMs: seeMs * runtime.guest.pace, signal });
  return new Map(
    skills.map(({ name, category }) => [String(name), category === sharedSkills ? 'loaded' : 'shadowed'] as const),
  );
});
