import { agentSkillStates, maxAgentSkills, skillBounds, skillNamePattern } from '@lodge/domain';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { AgentParams } from './agent-requests.ts';
import { maxMembers } from './members.ts';
import { Timestamp, nullable, oneOf, patterns, wholeList } from '../text.ts';

const name = Type.String({ maxLength: skillBounds.nameChars, pattern: skillNamePattern, examples: ['release-notes'] });

const version = {
  anyOf: [
    { type: 'integer', minimum: 1, maximum: 1_000_000 },
    { type: 'string', enum: ['latest'] },
  ],
  examples: ['latest'],
};
const membersDescription =
  'Names of the members that have it, and null for the agent itself. Null instead of a list: the agent and all its members, those to come too.';

export const AgentSkill = Type.Object(
  {
    object: Type.Literal('agent_skill'),
    agent_id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    name,
    skill: Type.String({ description: "The id of the library's skill." }),
    version: Type.Unsafe<number | 'latest'>({ ...version, description: 'As it was asked for.' }),
    resolved_version: Type.Integer({ description: 'The version that it has now.' }),
    enabled: Type.Boolean(),
    members: nullable(Type.Array(nullable(Type.String()), { description: membersDescription })),
    state: oneOf(agentSkillStates, {
      description:
        "As the agent's runtime sees it. A read asks a running agent again after 15 seconds; else it is as it was last seen. `pending`: the machine has yet to take it, within seconds while it runs, else at its next start. `shadowed`: another skill of its name, mostly one in the workspace, is used in its place. `not_loaded`: the runtime does not offer it, as it is disabled, or as something is missing. With several members it is the worst of what they see.",
    }),
    missing: Type.Object(
      { programs: Type.Array(Type.String(), { examples: [['gh']] }), variables: Type.Array(Type.String()) },
      { additionalProperties: false, description: 'Things that the skill says it needs, and the machine lacks.' },
    ),
    error: nullable(
      Type.String({
        description:
          'Why the machine does not have the wanted skills. It is tried again. Null: it has them, or has yet to.',
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'AgentSkill', additionalProperties: false },
);
export type AgentSkill = Static<typeof AgentSkill>;

export const AgentSkillList = wholeList(AgentSkill, 'AgentSkillList');

export const PutAgentSkill = Type.Object(
  {
    skill: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: patterns.token,
        description:
          "The library's skill, by its id or its name. Its name must be that of the path; by default it is found by that.",
        examples: ['release-notes'],
      }),
    ),
    version: Type.Optional(
      Type.Unsafe<number | 'latest'>({
        ...version,
        default: 'latest',
        description: 'A version, or `latest`: then the agent has each new version as soon as it is in the library.',
      }),
    ),
    enabled: Type.Optional(Type.Boolean({ default: true, description: 'False: kept, and not in the machine.' })),
    members: Type.Optional(
      nullable(
        Type.Array(nullable(Type.String({ pattern: patterns.memberName })), {
          maxItems: maxMembers + 1,
          uniqueItems: true,
          default: null,
          description: membersDescription,
          examples: [['researcher']],
        }),
      ),
    ),
  },
  {
    title: 'PutAgentSkill',
    additionalProperties: false,
    description: `An agent may have ${maxAgentSkills} skills.`,
    examples: [{ version: 'latest' }],
  },
);
export type PutAgentSkill = Static<typeof PutAgentSkill>;

export const AgentSkillParams = Type.Object({
  ...AgentParams.properties,
  name: Type.String({ description: 'The name of the skill.', examples: ['release-notes'] }),
});

export const AgentSkillRemoved = Type.Object(
  {
    object: Type.Literal('agent_skill.deleted'),
    name: Type.String(),
    deleted: Type.Literal(true),
    pending: Type.Boolean({ description: "Whether it is still in the agent's machine." }),
  },
  { title: 'AgentSkillRemoved', additionalProperties: false },
);
