/**
 * Carries the skills of one agent from a backup's database to the agent that takes its place in another. The versions that it
 * has come along where the account's library has no skill of the name. A skill of the name that is another one stays as it is,
 * because other agents may follow it. All of it is one transaction, so a kill leaves an agent without skills.
 */
import { randomUUID } from 'node:crypto';
import { skillQuota } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import {
  findSkillVersion,
  insertSkill,
  insertSkillVersion,
  lockLibrary,
  skillContents,
  skillNamed,
  skillVersionsOf,
  skillsOfAgents,
  upsertAgentSkill,
} from '@lodge/store/skills';
import type { AgentSkillRow } from '@lodge/store/skills';
import { renewWanted } from './wanted.ts';

export interface CarriedAgent {
  /** Its id in the backup. */
  readonly from: string;
  readonly to: string;
  /** The account that it belongs to from now on. */
  readonly accountId: string;
}

const note: ActorNote = { by: { actor: { kind: 'operator', id: null }, address: null, requestId: null } };

/** Returns the names of skills that did not come along, as the library has others of these names. */
export async function carrySkills(from: Database, to: Database, agent: CarriedAgent): Promise<readonly string[]> {
  const rows = await from.repeatable((db) => skillsOfAgents(db, [agent.from]));
  if (rows.length === 0) return [];
  const leftOut: string[] = [];
  await to.transaction(async (trx) => {
    await lockLibrary(trx, agent.accountId);
    for (const row of rows) {
      const present = await versionLike(trx, agent.accountId, row);
      if (present === null) leftOut.push(row.name);
      else await give(trx, agent.to, row, present ?? (await brought(from, trx, agent.accountId, row)));
    }
    await renewWanted(trx, [agent.to]);
  });
  return leftOut;
}

interface Found {
  readonly skillId: string;
  readonly version: number;
}

/**
 * Finds the version in the account's library that has the same files. Null: the library has others of the name. Undefined: it has
 * none of the name.
 */
async function versionLike(
  trx: Transaction,
  accountId: string,
  { name, digest }: AgentSkillRow,
): Promise<Found | null | undefined> {
  const skill = await skillNamed(trx, accountId, name);
  if (skill === undefined) return undefined;
  const versions = await skillVersionsOf(trx, skill.id, { limit: skillQuota.versions });
  const same = versions.find((version) => version.digest === digest);
  return same === undefined ? null : { skillId: skill.id, version: same.version };
}

/** Makes a skill of the version, which keeps its number. The quota is not asked: the operator restores. */
async function brought(from: Database, trx: Transaction, accountId: string, row: AgentSkillRow): Promise<Found> {
  const read = await from.repeatable(async (db) => ({
    version: (await findSkillVersion(db, row.skillId, row.resolvedVersion))!,
    files: await skillContents(db, row.versionId),
  }));
  const { version, files } = read;
  const skillId = randomUUID();
  await insertSkill(trx, { id: skillId, accountId, name: row.name });
  const lists = {
    source: JSON.stringify(version.source),
    findings: JSON.stringify(version.findings),
    files: JSON.stringify(version.files),
  };
  await insertSkillVersion(
    trx,
    { ...version, ...lists, id: randomUUID(), skillId },
    files.map(({ content }) => content),
  );
  const data = { skill_id: skillId, name: row.name, version: version.version };
  const target = { kind: 'skill', id: skillId } as const;
  await writeNote(trx, { accountId, agentId: null, target }, { type: 'skill.created', data }, note);
  return { skillId, version: version.version };
}

/** An agent that follows the latest version goes on to do so. Members do not come along with it. */
async function give(trx: Transaction, agentId: string, row: AgentSkillRow, { skillId, version }: Found): Promise<void> {
  await upsertAgentSkill(trx, {
    agentId,
    name: row.name,
    skillId,
    version: row.version === null ? null : version,
    enabled: row.enabled,
    members: row.members && row.members.filter((member) => member === null),
  });
}
