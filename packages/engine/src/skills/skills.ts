/** The skills library of an account. Each use-case refuses with `skill_not_found` where the account has no such skill. */
import { Refusal, skillQuota } from '@lodge/domain';
import type { ActorNote, ReadSkill, SkillOrigin, SkillReader } from '@lodge/ports';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import {
  agentsWithSkill,
  deleteSkill,
  dropSkillOfAgents,
  findSkill,
  findSkillVersion,
  insertSkill,
  insertSkillVersion,
  lockFollowers,
  lockLibrary,
  lockSkillsHeld,
  skillFileContent,
  skillNamed,
  skillVersionsOf,
  skillsOf,
  touchSkill,
} from '@lodge/store/skills';
import type { SkillRow, SkillVersionRow } from '@lodge/store/skills';
import { renewWanted } from '../agent-skills/wanted.ts';

export interface SkillsDeps {
  readonly database: Database;
  readonly reader: SkillReader;
  readonly makeId: () => string;
}

export interface SkillInput {
  readonly origin: SkillOrigin;
  /** Whether findings of severity `high` are taken. */
  readonly acceptFindings: boolean;
}

export interface SkillFileContent {
  readonly path: string;
  readonly sha256: string;
  readonly content: Buffer;
}

export type Skills = ReturnType<typeof createSkills>;

export const createSkills = (deps: SkillsDeps) => ({ ...createReads(deps), ...createChanges(deps) });

const createReads = ({ database }: SkillsDeps) => ({
  /** By their names. */
  list: (accountId: string): Promise<readonly SkillRow[]> => database.repeatable((db) => skillsOf(db, accountId)),
  /** `skill` is its id or its name. */
  get: async (accountId: string, skill: string): Promise<SkillRow> =>
    there(await database.repeatable((db) => findSkill(db, accountId, skill))),
  /** Newest first. */
  versions: (
    accountId: string,
    skill: string,
    page: { readonly before?: number; readonly limit: number },
  ): Promise<readonly SkillVersionRow[]> =>
    database.repeatable(async (db) => skillVersionsOf(db, there(await findSkill(db, accountId, skill)).id, page)),
  /** Reads a file of a version, or of the latest. Refuses with `file_not_found`, too. */
  file: (accountId: string, skill: string, path: string, version?: number): Promise<SkillFileContent> =>
    database.repeatable(async (db) => {
      const { id, version: last } = there(await findSkill(db, accountId, skill));
      const row = await findSkillVersion(db, id, version ?? last);
      if (row === undefined) throw new Refusal('skill_not_found', 'The skill has no such version.');
      const index = row.files.findIndex((file) => file.path === path);
      if (index < 0) throw new Refusal('file_not_found', 'The version of the skill has no such file.');
      return { path, sha256: row.files[index]!.sha256, content: await skillFileContent(db, row.id, index) };
    }),
});

const createChanges = ({ database, reader, makeId }: SkillsDeps) => ({
  /**
   * Adds a skill, or the next version of the skill that has its name. Refuses with `skill_refused` and the findings, with
   * `quota_exceeded`, and as its reader does.
   */
  async add(
    accountId: string,
    { origin, acceptFindings }: SkillInput,
    note: ActorNote,
    signal: AbortSignal,
  ): Promise<SkillRow> {
    const read = await reader.read(accountId, origin, signal);
    if (!acceptFindings) refuseFindings(read);
    const [newId, versionId] = [makeId(), makeId()];
    return database.transaction(async (trx) => {
      const held = await lockSkillsHeld(trx, accountId);
      const present = await skillNamed(trx, accountId, read.name);
      const version = (present?.version ?? 0) + 1;
      checkQuota(read, held, version);
      const id = present?.id ?? newId;
      if (present === undefined) await insertSkill(trx, { id, accountId, name: read.name });
      else await touchSkill(trx, id);
      await putVersion(trx, { id: versionId, skillId: id, version }, read);
      if (present !== undefined) await renewFollowers(trx, id);
      const data = { skill_id: id, name: read.name, version };
      const type = present === undefined ? 'skill.created' : 'skill.version_added';
      const row = there(await findSkill(trx, accountId, id));
      await writeNote(trx, { accountId, agentId: null, target: { kind: 'skill', id } }, { type, data }, note);
      return row;
    });
  },
  /** Deletes a skill with all its versions, and returns its id. Refuses with `skill_in_use`. */
  async remove(accountId: string, skill: string, note: ActorNote): Promise<string> {
    return database.transaction(async (trx) => {
      // No version is added to a skill that goes, and no agent is given it.
      await lockLibrary(trx, accountId);
      const { id, name } = there(await findSkill(trx, accountId, skill));
      refuseUsed(await agentsWithSkill(trx, id));
      await dropSkillOfAgents(trx, id);
      await deleteSkill(trx, id);
      const happened = { type: 'skill.deleted', data: { skill_id: id, name } } as const;
      await writeNote(trx, { accountId, agentId: null, target: { kind: 'skill', id } }, happened, note);
      return id;
    });
  },
});

/** Agents that follow the latest version want the one that was added. */
async function renewFollowers(trx: Transaction, skillId: string): Promise<void> {
  const followers = await lockFollowers(trx, skillId);
  if (followers.length === 0) return;
  await renewWanted(trx, followers);
}

const shownAgents = 5;

function refuseUsed(agents: readonly string[]): void {
  if (agents.length === 0) return;
  const shown = agents.slice(0, shownAgents).join(', ');
  const more = agents.length > shownAgents ? ` and ${agents.length - shownAgents} more` : '';
  throw new Refusal('skill_in_use', `Take the skill from the agents that use it first: ${shown}${more}.`);
}

function refuseFindings({ findings }: ReadSkill): void {
  const high = findings.filter(({ severity }) => severity === 'high');
  if (high.length === 0) return;
  const [{ file, line, message }] = high as [(typeof high)[number]];
  const place = line === null ? file : `${file}:${line}`;
  throw new Refusal(
    'skill_refused',
    `The review found ${high.length} of severity high, such as ${message} (${place}). Look at \`findings\`, and send accept_findings to take the skill all the same.`,
    { findings },
  );
}

interface Held {
  readonly skills: number;
  readonly bytes: number;
}

function checkQuota(read: ReadSkill, held: Held, version: number): void {
  const bytes = sizeOf(read);
  if (version === 1 && held.skills >= skillQuota.skills) throw full(`at most ${skillQuota.skills} skills`);
  if (held.bytes + bytes > skillQuota.bytes) {
    throw full(`at most ${skillQuota.bytes / 2 ** 20} MiB of skills, all versions together`);
  }
  if (version > skillQuota.versions) {
    throw full(`at most ${skillQuota.versions} versions of a skill: delete the skill, or give it another name`);
  }
}

const full = (most: string): Refusal => new Refusal('quota_exceeded', `An account may have ${most}.`);

const sizeOf = ({ files }: ReadSkill): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

interface VersionKey {
  readonly id: string;
  readonly skillId: string;
  readonly version: number;
}

const putVersion = (trx: Transaction, key: VersionKey, read: ReadSkill): Promise<void> =>
  insertSkillVersion(
    trx,
    {
      ...key,
      description: read.description,
      digest: read.digest,
      source: JSON.stringify(read.source),
      programs: [...read.requires.programs],
      variables: [...read.requires.variables],
      findings: JSON.stringify(read.findings),
      files: JSON.stringify(
        read.files.map(({ path, bytes, sha256, executable }) => ({ path, bytes, sha256, executable })),
      ),
      bytes: sizeOf(read),
    },
    read.files.map(({ content }) => content),
  );

const notFound = (): Refusal => new Refusal('skill_not_found', 'The account has no such skill.');

function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}
