/** Words and bounds of skills: folders with a SKILL.md, in the format of agentskills.io. */

const kib = 1024;
const mib = 1024 * kib;

/** Most skills of an account, most versions of one, and most bytes of all of them. */
export const skillQuota = { skills: 100, versions: 100, bytes: 256 * mib } as const;

/** Most skills of an agent. */
export const maxAgentSkills = 50;

/**
 * The state of a skill in an agent's machine. `pending`: the machine has yet to take it. `shadowed`: another skill of its name
 * is used in its place. `not_loaded`: the runtime does not offer it to the agent, as it is disabled or lacks something.
 */
export const agentSkillStates = ['loaded', 'pending', 'shadowed', 'not_loaded'] as const;
export type AgentSkillState = (typeof agentSkillStates)[number];

/** Bounds on one version of a skill. */
export const skillBounds = {
  files: 256,
  bytes: 8 * mib,
  /** Longest path in UTF-8 bytes, and most folders in it. */
  pathBytes: 255,
  depth: 8,
  /** Largest SKILL.md, which an agent reads whole, and largest front matter in it. */
  instructionBytes: 256 * kib,
  frontMatterBytes: 16 * kib,
  nameChars: 64,
  descriptionChars: 1_024,
  /** Most programs, and most variables, that it says it needs. */
  requires: 32,
  findings: 32,
} as const;

/** Largest archive of a skill: all its bytes, should they not shrink, and what an archive says of each file. */
export const maxSkillArchiveBytes = skillBounds.bytes + mib;

/** By agentskills.io: lower case letters and digits, with single hyphens between them. */
export const skillNamePattern = '^[a-z0-9]+(?:-[a-z0-9]+)*$';
const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const isSkillName = (name: string): boolean => name.length <= skillBounds.nameChars && namePattern.test(name);

/** The file that makes a folder a skill. */
export const skillFile = 'SKILL.md';

/** Programs that must be there, and variables of the environment, by what the skill says of itself. */
export interface SkillRequires {
  readonly programs: readonly string[];
  readonly variables: readonly string[];
}

export const skillHubs = ['clawhub', 'skills.sh'] as const;
export type SkillHub = (typeof skillHubs)[number];

/** The origin of a version. A commit, and a hub's version, name exactly what was fetched. */
export type SkillSource =
  | { readonly kind: 'upload' }
  | {
      readonly kind: 'git';
      readonly url: string;
      readonly ref?: string;
      readonly path: string;
      readonly commit: string;
    }
  | { readonly kind: 'hub'; readonly name: SkillHub; readonly slug: string; readonly version: string };

/** A file of a version, in the order of paths. */
export interface SkillFileFacts {
  readonly path: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
  readonly executable: boolean;
}

/** The fault of a skill that somebody sent, as words that follow the name of the field. */
export class SkillProblem extends Error {
  override name = 'SkillProblem';
}
