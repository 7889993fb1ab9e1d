/**
 * The owners' use-cases for the skills of their agents, in every state of the agent. Each refuses with `agent_not_found` where
 * the account has no such agent, and with `skill_not_found` where the agent has no such skill.
 */
import { Refusal, abilitiesOf, isSkillName, maxAgentSkills } from '@lodge/domain';
import type { AgentSkillState, SkillRequires } from '@lodge/domain';
import type { ActorNote } from '@lodge/ports';
import { selectAgent } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import {
  deleteAgentSkill,
  findAgentSkill,
  findSkill,
  findSkillVersion,
  lockLibrary,
  skillsOfAgents,
  upsertAgentSkill,
} from '@lodge/store/skills';
import type { AgentSkillRow } from '@lodge/store/skills';
import type { Agents } from '../agents/agents.ts';
import { lockOwnAgent } from '../agents/lock.ts';
import { nothingPlaced } from '../agents/settings.ts';
import { SkillLooks, defaultLookBounds } from './looks.ts';
import type { LookBounds } from './looks.ts';
import { isWanted, renewWanted } from './wanted.ts';

export interface AgentSkillsDeps {
  readonly agents: Pick<Agents, 'get' | 'looksForSkills' | 'seeSkills'>;
  readonly database: Database;
  readonly looks?: Partial<LookBounds>;
}

export interface AgentSkillInput {
  readonly name: string;
  /** The skill of the library, by its id or its name. */
  readonly skill: string;
  /** Null: the latest. */
  readonly version: number | null;
  readonly enabled: boolean;
  /** Names of members, and null for the agent itself. Null: all of them. */
  readonly members: readonly (string | null)[] | null;
}

/** A skill of an agent, and its state in the machine. */
export interface AgentSkill extends Omit<AgentSkillRow, 'state'> {
  readonly state: AgentSkillState;
  readonly missing: SkillRequires;
  /** Why the machine does not have the wanted skills, where that failed. */
  readonly error: string | null;
}

export type AgentSkillUses = ReturnType<typeof createAgentSkills>;

export function createAgentSkills({ agents, database, looks: bounds }: AgentSkillsDeps) {
  const looks = new SkillLooks({ agents, database }, { ...defaultLookBounds, ...bounds });
  const find = async (accountId: string, agentId: string, name: string): Promise<AgentSkill> => {
    const agent = await agents.get(accountId, agentId);
    const row = isSkillName(name)
      ? await database.repeatable((db) => findAgentSkill(db, { agentId, name }))
      : undefined;
    if (row === undefined) throw notUsed();
    return skillOf(agent, row);
  };
  return {
    find,
    /** Finds it as the agent's runtime sees it now, as far as that can be told in a moment. */
    async look(accountId: string, agentId: string, name: string): Promise<AgentSkill> {
      await looks.refresh(await agents.get(accountId, agentId));
      return find(accountId, agentId, name);
    },
    /** Lists them by name, as the agent's runtime sees them now. */
    async list(accountId: string, agentId: string): Promise<readonly AgentSkill[]> {
      const agent = await agents.get(accountId, agentId);
      await looks.refresh(agent);
      const rows = await database.repeatable((db) => skillsOfAgents(db, [agentId]));
      return rows.map((row) => skillOf(agent, row));
    },
    /** Gives the agent a skill. Refuses with `invalid_request` and the field, `agent_outdated`, or `quota_exceeded`. */
    async put(accountId: string, agentId: string, input: AgentSkillInput, note?: ActorNote): Promise<AgentRow> {
      const agent = await agents.get(accountId, agentId);
      if (!(await agents.looksForSkills(agent))) throw outdated(agentId);
      return database.transaction((trx) => putSkill(trx, { accountId, agentId }, input, note));
    },
    async remove(accountId: string, agentId: string, name: string, note?: ActorNote): Promise<AgentRow> {
      await agents.get(accountId, agentId);
      if (!isSkillName(name)) throw notUsed();
      return database.transaction(async (trx) => {
        await lockOwnAgent(trx, { accountId, agentId });
        if (!(await deleteAgentSkill(trx, { agentId, name }))) throw notUsed();
        await renewWanted(trx, [agentId]);
        const happened = { type: 'agent.skill_removed', data: { name } } as const;
        await writeNote(trx, { accountId, agentId }, happened, note);
        return (await selectAgent(trx, agentId))!;
      });
    },
  };
}

interface OwnAgent {
  readonly accountId: string;
  readonly agentId: string;
}

async function putSkill(
  trx: Transaction,
  { accountId, agentId }: OwnAgent,
  { name, skill, version, enabled, members }: AgentSkillInput,
  note: ActorNote | undefined,
): Promise<AgentRow> {
  await lockLibrary(trx, accountId);
  await lockOwnAgent(trx, { accountId, agentId });
  const found = await findSkill(trx, accountId, skill);
  if (found === undefined) throw new Refusal('skill_not_found', 'The account has no such skill.');
  if (found.name !== name) {
    throw new Refusal('invalid_request', `skill must be named as in the path, and its name is ${found.name}.`);
  }
  if (version !== null && (await findSkillVersion(trx, found.id, version)) === undefined) {
    throw new Refusal('skill_not_found', 'The skill has no such version.');
  }
  checkMembers((await selectAgent(trx, agentId))!, members);
  const all = await skillsOfAgents(trx, [agentId]);
  if (all.length >= maxAgentSkills && !all.some((each) => each.name === name)) {
    throw new Refusal('quota_exceeded', `An agent may have ${maxAgentSkills} skills.`);
  }
  await upsertAgentSkill(trx, { agentId, name, skillId: found.id, version, enabled, members: members && [...members] });
  await renewWanted(trx, [agentId]);
  const data = { name, version: version ?? found.version, enabled };
  await writeNote(trx, { accountId, agentId }, { type: 'agent.skill_put', data }, note);
  return (await selectAgent(trx, agentId))!;
}

function checkMembers({ runtimeKind, members }: AgentRow, wanted: AgentSkillInput['members']): void {
  for (const name of wanted ?? []) {
    if (name === null || members.some((member) => member.name === name)) continue;
    const why = abilitiesOf(runtimeKind).hasMembers ? `the agent has no member ${name}` : 'its runtime has no members';
    throw new Refusal('invalid_request', `members must be members of the agent: ${why}.`);
  }
}

const outdated = (agentId: string): Refusal =>
  new Refusal('agent_outdated', 'The agent runs on an image from before skills. Upgrade it first.', { agentId });

const notUsed = (): Refusal => new Refusal('skill_not_found', 'The agent has no such skill.');

/** The state of a machine that has none of its skills yet, or of which nobody knows, is none of theirs. */
function skillOf({ skillsApplied, skillsError }: AgentRow, row: AgentSkillRow): AgentSkill {
  const isKnown = skillsApplied !== null && skillsApplied !== nothingPlaced;
  return {
    ...row,
    state: (isKnown ? row.state : null) ?? (isWanted(row) ? 'pending' : 'not_loaded'),
    missing: { programs: row.missingPrograms, variables: row.missingVariables },
    error: skillsError,
  };
}
