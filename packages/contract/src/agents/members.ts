import { Type } from 'typebox';
import type { Static } from 'typebox';
import { AgentParams, CreateAgent } from './agent-requests.ts';
import { Instructions } from './instructions.ts';
import { Timestamp, nullable, patterns, wholeList } from '../text.ts';

/** Most members of an agent. */
export const maxMembers = 16;
/** Most UTF-8 bytes of the instructions of all members of an agent together. */
export const maxMemberInstructionBytes = 128 * 1024;

/** A name is also a folder's name, a part of a model's name and OpenClaw's id of the member. */
const MemberName = Type.String({
  pattern: patterns.memberName,
  description: 'Lower case letters, digits and hyphens, 2 to 32, a letter first.',
  examples: ['researcher'],
});

const { model } = CreateAgent.properties;
const ownModel = { ...model, description: "`<provider>/<model_name>`; null: the agent's own model." };

export const AgentMember = Type.Object(
  {
    object: Type.Literal('member'),
    agent_id: Type.String({ pattern: patterns.agentId, examples: ['k7d2m9q4x1ab'] }),
    name: MemberName,
    model: nullable(Type.String({ description: "Null: the agent's own model." })),
    instructions: nullable(Type.String()),
    chat_model: Type.String({
      description: 'The `model` by which it is spoken to.',
      examples: ['k7d2m9q4x1ab/researcher'],
    }),
    workspace: Type.String({ description: "Its folder in the agent's workspace.", examples: ['members/researcher'] }),
    pending: Type.Boolean({
      description:
        "Whether the agent's machine has yet to take over how it is now: within seconds while it runs, else at its next start.",
    }),
    created_at: Timestamp,
  },
  { title: 'AgentMember', additionalProperties: false },
);
export type AgentMember = Static<typeof AgentMember>;

export const AgentMemberList = wholeList(AgentMember, 'AgentMemberList');

export const CreateMember = Type.Object(
  {
    name: MemberName,
    model: Type.Optional(nullable(ownModel)),
    instructions: Type.Optional(Instructions),
  },
  { title: 'CreateMember', additionalProperties: false, examples: [{ name: 'researcher' }] },
);
export type CreateMember = Static<typeof CreateMember>;

export const UpdateMember = Type.Object(
  { model: Type.Optional(nullable(ownModel)), instructions: Type.Optional(Instructions) },
  {
    title: 'UpdateMember',
    additionalProperties: false,
    description: 'Only what is given changes.',
    examples: [{ instructions: 'You look things up.' }],
  },
);
export type UpdateMember = Static<typeof UpdateMember>;

export const MemberParams = Type.Object({
  ...AgentParams.properties,
  name: Type.String({ description: "The member's name.", examples: ['researcher'] }),
});

export const DeletedMember = Type.Object(
  {
    object: Type.Literal('member.deleted'),
    name: Type.String(),
    deleted: Type.Literal(true),
    pending: Type.Boolean({ description: "Whether its workspace and sessions are still in the agent's machine." }),
  },
  { title: 'DeletedMember', additionalProperties: false },
);
