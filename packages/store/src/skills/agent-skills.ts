/** Skills of the library that agents use. All that read leave out those of agents that are being deleted. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { AgentSkills, SkillVersions } from '../database/tables.ts';

/** A skill of an agent, with the facts of the version that it has now. */
export interface AgentSkillRow
  extends Selectable<AgentSkills>, Pick<Selectable<SkillVersions>, 'digest' | 'programs' | 'variables'> {
  readonly versionId: string;
  readonly resolvedVersion: number;
}

const live = (db: Queries) =>
  db
    .selectFrom('agentSkills as s')
    .innerJoin('agents', 'agents.id', 's.agentId')
    .innerJoin('skillVersions as v', 'v.skillId', 's.skillId')
    .selectAll('s')
    .select(['v.id as versionId', 'v.version as resolvedVersion', 'v.digest', 'v.programs', 'v.variables'])
    .where('agents.desired', '=', 'running')
    .where((eb) =>
      eb(
        'v.version',
        '=',
        eb.fn.coalesce(
          's.version',
          eb
            .selectFrom('skillVersions as last')
            .select((last) => last.fn.max('last.version').as('version'))
            .whereRef('last.skillId', '=', 's.skillId'),
        ),
      ),
    );

/** Returns the skills of agents by their names. */
export const skillsOfAgents = (db: Queries, agentIds: readonly string[]): Promise<readonly AgentSkillRow[]> =>
  live(db)
    .where('s.agentId', '=', sql<string>`any(${agentIds}::text[])`)
    .orderBy('s.name')
    .execute();

export interface AgentSkillPlace {
  readonly agentId: string;
  readonly name: string;
}

export const findAgentSkill = (db: Queries, { agentId, name }: AgentSkillPlace): Promise<AgentSkillRow | undefined> =>
  live(db).where('s.agentId', '=', agentId).where('s.name', '=', name).executeTakeFirst();

/** Puts the skill in the place of one with its name. */
export async function upsertAgentSkill(trx: Transaction, skill: Insertable<AgentSkills>): Promise<void> {
  const { skillId, version, enabled, members } = skill;
  const updatedAt = sql<Date>`clock_timestamp()`;
  await trx
    .insertInto('agentSkills')
    .values(skill)
    .onConflict((conflict) =>
      conflict.columns(['agentId', 'name']).doUpdateSet({ skillId, version, enabled, members, updatedAt }),
    )
    .execute();
}

/** Gives the agent's skills to these agents too, which have none. Nothing is known of them in their machines yet. */
export async function copyAgentSkills(trx: Transaction, agentId: string, to: readonly string[]): Promise<void> {
  await sql`
    insert into agent_skills (agent_id, name, skill_id, version, enabled, members)
    select copy.id, s.name, s.skill_id, s.version, s.enabled, s.members
    from agent_skills s, unnest(${to}::text[]) copy (id) where s.agent_id = ${agentId}
  `.execute(trx);
}

/** False when there is none. */
export async function deleteAgentSkill(trx: Transaction, { agentId, name }: AgentSkillPlace): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('agentSkills')
    .where('agentId', '=', agentId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Takes members that are gone out of the lists of an agent's skills. */
export async function forgetSkillMembers(
  trx: Transaction,
  agentId: string,
  members: readonly string[],
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('agentSkills')
    .set({ members: sql`array(select m from unnest(members) m where m is null or m <> all (${members}::text[]))` })
    .where('agentId', '=', agentId)
    .where(sql<boolean>`members && ${members}::text[]`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Agents with the skill, those that are being deleted apart. */
export async function agentsWithSkill(trx: Transaction, skillId: string): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('agentSkills as s')
    .innerJoin('agents', 'agents.id', 's.agentId')
    .select('s.agentId')
    .where('s.skillId', '=', skillId)
    .where('agents.desired', '=', 'running')
    .orderBy('s.agentId')
    .execute();
  return rows.map(({ agentId }) => agentId);
}

/** Deletes what agents that are being deleted still have of a skill. */
export async function dropSkillOfAgents(trx: Transaction, skillId: string): Promise<void> {
  await trx.deleteFrom('agentSkills').where('skillId', '=', skillId).execute();
}

/** Locks the agents that follow the latest version of the skill, in the order of their ids. */
export async function lockFollowers(trx: Transaction, skillId: string): Promise<readonly string[]> {
  const rows = await trx
    .selectFrom('agents')
    .select('id')
    .where('id', 'in', (eb) =>
      eb.selectFrom('agentSkills').select('agentId').where('skillId', '=', skillId).where('version', 'is', null),
    )
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/** Writes digests of wanted skills into their agents, in the order of the agents' ids. The states of another set are unknown. */
export async function setSkillsWanted(
  trx: Transaction,
  wanted: readonly { readonly agentId: string; readonly digest: string }[],
): Promise<void> {
  for (const { agentId, digest } of wanted) {
    const { numUpdatedRows } = await trx
      .updateTable('agents')
      .set({ skillsWanted: digest, skillsError: null })
      .where('id', '=', agentId)
      .where('skillsWanted', '<>', digest)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) continue;
    const unseen = { state: null, missingPrograms: [], missingVariables: [] };
    await trx.updateTable('agentSkills').set(unseen).where('agentId', '=', agentId).execute();
  }
}

export interface SeenSkill extends Pick<Selectable<AgentSkills>, 'name' | 'missingPrograms' | 'missingVariables'> {
  readonly state: NonNullable<Selectable<AgentSkills>['state']>;
}

/** Writes the states of an agent's skills, unless others are wanted by now. */
export async function writeSeenSkills(
  trx: Transaction,
  agentId: string,
  wanted: string,
  seen: readonly SeenSkill[],
): Promise<void> {
  await sql`
    update agent_skills s set state = seen.state, missing_programs = seen.programs, missing_variables = seen.variables
    from jsonb_to_recordset(${JSON.stringify(
      seen.map(({ name, state, missingPrograms: programs, missingVariables: variables }) => ({
        name,
        state,
        programs,
        variables,
      })),
    )}::jsonb) as seen (name text, state text, programs text[], variables text[])
    where s.agent_id = ${agentId} and s.name = seen.name
      and exists (select from agents where id = ${agentId} and skills_wanted = ${wanted})
  `.execute(trx);
}
