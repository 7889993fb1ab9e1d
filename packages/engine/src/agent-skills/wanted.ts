/** The set of skills that an agent's machine should have, and its digest in the agent's row. */
import { hash } from 'node:crypto';
import type { SkillSight, WantedSkill, WantedSkills } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { Transaction } from '@lodge/store/database';
import { setSkillsWanted, skillsOfAgents } from '@lodge/store/skills';
import type { AgentSkillRow, SeenSkill } from '@lodge/store/skills';
import { skillsDigest } from '../agents/settings.ts';

/** Whether a machine should have the skill. */
export const isWanted = ({ enabled, members }: AgentSkillRow): boolean => enabled && members?.length !== 0;

/** A digest of the skills. Rows keep it, so a change of its form leaves agents with what they have. */
function setDigest(rows: readonly AgentSkillRow[]): string {
  const set = rows.filter(isWanted).map(({ name, digest, members }) => [name, digest, members]);
  return hash('sha256', JSON.stringify(set), 'base64url');
}

/** Writes the digests of the wanted skills anew, into agents that are locked. */
export async function renewWanted(trx: Transaction, agentIds: readonly string[]): Promise<void> {
  if (agentIds.length === 0) return;
  const rows = Map.groupBy(await skillsOfAgents(trx, agentIds), ({ agentId }) => agentId);
  const wanted = [...agentIds].sort().map((agentId) => ({ agentId, digest: setDigest(rows.get(agentId) ?? []) }));
  await setSkillsWanted(trx, wanted);
}

export interface Wanted extends WantedSkills {
  /** The digest of the set without the agent's members, as in `AgentRow.skillsWanted`. */
  readonly set: string;
  /** The version of each skill. */
  readonly versions: ReadonlyMap<string, string>;
}

/** The skills for the guest of the agent. `rows` may be newer than the agent's row. */
export function wantedOf(agent: AgentRow, rows: readonly AgentSkillRow[]): Wanted {
  const set = rows.length === 0 ? agent.skillsWanted : setDigest(rows);
  const there = rows.filter(isWanted);
  return {
    set,
    digest: skillsDigest({ ...agent, skillsWanted: set }),
    members: agent.members.map(({ name }) => name),
    skills: there.map(({ name, digest, members, programs, variables }): WantedSkill => ({
      name,
      digest,
      members,
      requires: { programs, variables },
    })),
    versions: new Map(there.map(({ name, versionId }) => [name, versionId])),
  };
}

/** The states of all skills of an agent by what its runtime says. A guest may say anything, so only what is asked for counts. */
export const seenSkills = (rows: readonly AgentSkillRow[], sights: readonly SkillSight[]): readonly SeenSkill[] =>
  rows.map((row) => {
    const own = sights.filter(({ name }) => name === row.name);
    const among = (asked: readonly string[], kind: 'programs' | 'variables'): string[] =>
      asked.filter((one) => own.some(({ missing }) => missing[kind].includes(one)));
    return {
      name: row.name,
      state: stateOf(isWanted(row) ? own : []),
      missingPrograms: among(row.programs, 'programs'),
      missingVariables: among(row.variables, 'variables'),
    };
  });

/** The worst of the states that its members see. */
function stateOf(sights: readonly SkillSight[]): SeenSkill['state'] {
  if (sights.length === 0 || sights.some(({ state }) => state === 'not_loaded')) return 'not_loaded';
  return sights.some(({ state }) => state === 'shadowed') ? 'shadowed' : 'loaded';
}
