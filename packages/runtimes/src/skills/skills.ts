/** The skills of a guest. Runtimes differ in how one is asked for what it sees. */
import { guestClient } from '@lodge/guest';
import type { GuestAddress, GuestSkills, RuntimeFacts, SkillSight, WantedSkill } from '@lodge/ports';
import { ownSkills, sharedSkills } from './folders.ts';
import { missingIn } from './missing.ts';
import { placeSkills } from './place.ts';

/** The states of skills by their names, as an agent of the runtime sees them. An absent one is not loaded. */
export type SeenSkills = ReadonlyMap<string, 'loaded' | 'shadowed'>;

/** Asks a runtime for the skills of a member, or of the agent itself. */
type See = (
  guest: GuestAddress,
  facts: RuntimeFacts,
  member: string | null,
  signal: AbortSignal,
) => Promise<SeenSkills>;

export function guestSkills(see: See): GuestSkills {
  return {
    place: (guest, _facts, wanted, read, signal) => placeSkills(guest, wanted, placesOf, read, signal),
    async look(guest, facts, { skills, members }, signal) {
      if (skills.length === 0) return [];
      const missing = await missingIn(guestClient(guest), skills, signal);
      const sights: SkillSight[] = [];
      for (const member of [null, ...members]) {
        const own = skills.filter((skill) => has(skill, member));
        if (own.length === 0) continue;
        const seen = await see(guest, facts, member, signal);
        for (const { name, requires } of own)
          sights.push({ name, member, state: seen.get(name) ?? 'not_loaded', missing: missing(requires) });
      }
      return sights;
    },
  };
}

const has = ({ members }: WantedSkill, member: string | null): boolean => members === null || members.includes(member);

/** A skill that all have lies in one folder, so a member that comes has it at once. */
function placesOf(skill: WantedSkill, members: readonly string[]): readonly string[] {
  const havers = [null, ...members].filter((member) => has(skill, member));
  if (havers.length > members.length) return [`${sharedSkills}/${skill.name}`];
  return havers.map((member) => `${ownSkills(member)}/${skill.name}`);
}
