import type { SkillFileFacts, SkillRequires } from '@lodge/domain';
import type { RuntimeFacts } from '../vm/machine.ts';
import type { GuestAddress } from './guest-address.ts';

/**
 * Skills in guests, in a folder that root owns and the runtime reads. A guest is hostile: what it answers is bounded and
 * believed in nothing else.
 */
export interface GuestSkills {
  /**
   * Brings the skills of a guest, whose gateway is open, to the wanted ones, and removes all others. `read` is called for
   * those alone whose bytes the guest lacks, one at a time. Conversations that have begun see the change with their next
   * turn. May be interrupted at any point and repeated: the set that was there stays until the new one is whole. On success
   * all of it is on the guest's disk. Bounded. Rejects when the guest does not answer, or its disk has no room.
   */
  place(
    guest: GuestAddress,
    facts: RuntimeFacts,
    wanted: WantedSkills,
    read: (skill: WantedSkill) => Promise<readonly SkillFile[]>,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Returns how the runtime sees each of the wanted skills now, for each that may have it. Bounded. Rejects when the guest
   * does not answer.
   */
  look(
    guest: GuestAddress,
    facts: RuntimeFacts,
    wanted: WantedSkills,
    signal: AbortSignal,
  ): Promise<readonly SkillSight[]>;
}

export interface WantedSkills {
  /** Names this set, with the members of each skill and of the agent. A guest that has it costs one question. */
  readonly digest: string;
  readonly skills: readonly WantedSkill[];
  /** The names of all members of the agent. */
  readonly members: readonly string[];
}

export interface WantedSkill {
  readonly name: string;
  /** SHA-256 of the version's files, in hex. */
  readonly digest: string;
  readonly requires: SkillRequires;
  /** The names of the members that have it, and null for the agent itself; null for all of them, members to come too. */
  readonly members: readonly (string | null)[] | null;
}

export interface SkillFile extends Pick<SkillFileFacts, 'path' | 'executable'> {
  readonly content: Uint8Array;
}

export interface SkillSight {
  readonly name: string;
  /** The member that sees it so; null is the agent itself. */
  readonly member: string | null;
  /** `shadowed`: another skill of the same name, mostly one in the workspace, is used in its place. */
  readonly state: 'loaded' | 'shadowed' | 'not_loaded';
  /** Things that the skill says it needs, and the runtime's commands do not have. */
  readonly missing: SkillRequires;
}
