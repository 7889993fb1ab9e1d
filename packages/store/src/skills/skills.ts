/** Skills of an account, each with its latest version. */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { SkillVersions, Skills } from '../database/tables.ts';

const plain = ['skills.id', 'skills.accountId', 'skills.name', 'skills.createdAt', 'skills.updatedAt'] as const;
const latest = [
  'v.version',
  'v.description',
  'v.digest',
  'v.source',
  'v.programs',
  'v.variables',
  'v.findings',
  'v.bytes',
] as const;

type Latest = 'version' | 'description' | 'digest' | 'source' | 'programs' | 'variables' | 'findings' | 'bytes';

/** A skill with the facts of its latest version. `files` is their number, and `agents` that of the agents that use it. */
export interface SkillRow extends Selectable<Skills>, Pick<Selectable<SkillVersions>, Latest> {
  readonly files: number;
  readonly agents: number;
}

/** Counts like `agentsWithSkill`: agents that are being deleted use nothing. */
const usedBy = sql<number>`(
  select count(*)::integer from agent_skills s join agents on agents.id = s.agent_id
  where s.skill_id = skills.id and agents.desired = 'running'
)`;

const withLatest = (db: Queries, accountId: string) =>
  db
    .selectFrom('skills')
    .innerJoin('skillVersions as v', 'v.skillId', 'skills.id')
    .select([...plain, ...latest, sql<number>`jsonb_array_length(v.files)`.as('files'), usedBy.as('agents')])
    .where('skills.accountId', '=', accountId)
    .where((eb) =>
      eb(
        'v.version',
        '=',
        eb
          .selectFrom('skillVersions as last')
          .select((last) => last.fn.max('last.version').as('version'))
          .whereRef('last.skillId', '=', 'skills.id'),
      ),
    );

/** Returns the account's skills by their names. */
export const skillsOf = (db: Queries, accountId: string): Promise<readonly SkillRow[]> =>
  withLatest(db, accountId).orderBy('skills.name').execute();

/** Finds a skill by its id or its name. A name may look like the id of another skill, which then counts. */
export const findSkill = (db: Queries, accountId: string, skill: string): Promise<SkillRow | undefined> =>
  withLatest(db, accountId)
    .where((eb) => eb.or([eb('skills.id', '=', skill), eb('skills.name', '=', skill)]))
    .orderBy(sql`skills.id = ${skill}`, 'desc')
    .limit(1)
    .executeTakeFirst();

export interface SkillsHeld {
  readonly skills: number;
  /** Bytes of all versions. */
  readonly bytes: number;
}

/** Locks the account until the transaction ends: its library stays as it is. An agent is locked after it, never before. */
export async function lockLibrary(trx: Transaction, accountId: string): Promise<void> {
  await sql`select from accounts where id = ${accountId} for no key update`.execute(trx);
}

/** Locks the account until the transaction ends, and counts what its library holds. */
export async function lockSkillsHeld(trx: Transaction, accountId: string): Promise<SkillsHeld> {
  await lockLibrary(trx, accountId);
  const { skills, bytes } = await trx
    .selectFrom('skills')
    .leftJoin('skillVersions as v', 'v.skillId', 'skills.id')
    .select((eb) => [
      eb.fn.count<string>('skills.id').distinct().as('skills'),
      sql<string>`coalesce(sum(v.bytes), 0)`.as('bytes'),
    ])
    .where('skills.accountId', '=', accountId)
    .executeTakeFirstOrThrow();
  return { skills: Number(skills), bytes: Number(bytes) };
}

/** The skill of this name with the number of its latest version. */
export const skillNamed = (trx: Transaction, accountId: string, name: string) =>
  trx
    .selectFrom('skills')
    .innerJoin('skillVersions as v', 'v.skillId', 'skills.id')
    .select((eb) => ['skills.id', eb.fn.max('v.version').as('version')])
    .where('skills.accountId', '=', accountId)
    .where('skills.name', '=', name)
    .groupBy('skills.id')
    .executeTakeFirst();

export async function insertSkill(trx: Transaction, skill: Insertable<Skills>): Promise<void> {
  await trx.insertInto('skills').values(skill).execute();
}

export async function touchSkill(trx: Transaction, id: string): Promise<void> {
  await trx
    .updateTable('skills')
    .set({ updatedAt: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .execute();
}

/** Deletes the skill with its versions. */
export async function deleteSkill(trx: Transaction, id: string): Promise<void> {
  await trx.deleteFrom('skills').where('id', '=', id).execute();
}
