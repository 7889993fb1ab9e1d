/** Skills of an agent. The library's own are no part of a file: a file names skills that are there. */
import type { AgentSkill, Lodge, PutAgentSkill, Skill } from '@lodge/sdk';
import type { Problem } from './file/document.ts';
import type { Placed, Values } from './file/wanted.ts';
import type { Section } from './sections.ts';
import type { Acting } from './step.ts';

/** Members are a set, in one order. Null among them is the agent itself. */
const membersForm = (members: unknown): unknown =>
  Array.isArray(members)
    ? [...new Set(members)].toSorted((a, b) => (String(a ?? '') < String(b ?? '') ? -1 : 1))
    : null;

/** A skill as the API takes it, with the defaults of all that is left out. */
const bodyOf = ({ version = 'latest', enabled = true, members = null }: Values): PutAgentSkill =>
  ({ version, enabled, members }) as PutAgentSkill;

export const skills: Section = {
  field: 'skills',
  noun: 'skill',
  async list(lodge, agentId, call) {
    const { data } = await lodge.agentSkills.list(agentId, call);
    return data.map(({ name, version, enabled, members }: AgentSkill) => ({
      name,
      key: name,
      values: { version, enabled, members: membersForm(members) },
    }));
  },
  form: ({ members, ...wanted }) => ({ ...wanted, ...(members !== undefined && { members: membersForm(members) }) }),
  async make({ lodge, call }, agentId, name, wanted) {
    await lodge.agentSkills.put(agentId, name, bodyOf(wanted), call);
  },
  async change({ lodge, call }, agentId, { wanted, present }) {
    await lodge.agentSkills.put(agentId, present.key, bodyOf({ ...skillInFile(present.values), ...wanted }), call);
  },
  async remove({ lodge, call }, agentId, key) {
    await lodge.agentSkills.delete(agentId, key, call);
  },
};

/** Returns a skill that is there in the file's words, without defaults. */
export function skillInFile({ version, enabled, members }: Values): Values {
  return {
    version,
    ...(enabled === false && { enabled }),
    ...(members != null && { members }),
  };
}

/** Returns the skills of the files that the library lacks. They are read once, where a file has some. */
export async function unknownSkills(
  lodge: Lodge,
  agents: readonly Placed[],
  call: Acting['call'],
): Promise<readonly Problem[]> {
  if (!agents.some(({ agent }) => (agent.skills ?? []).length > 0)) return [];
  const { data } = await lodge.skills.list(call);
  const latest = new Map(data.map(({ name, version }: Skill) => [name, version]));
  return agents.flatMap((placed) =>
    (placed.agent.skills ?? []).flatMap(({ name, version }, at) => {
      const newest = latest.get(String(name));
      if (newest === undefined)
        return [placed.problem(['skills', at, 'name'], 'the account has no skill of this name')];
      if (typeof version !== 'number' || version <= newest) return [];
      return [placed.problem(['skills', at, 'version'], `the latest version of the skill is ${newest}`)];
    }),
  );
}
