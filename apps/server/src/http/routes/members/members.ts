import { abilitiesOf, checkHasMembers, kindsWith, Refusal, runtimeKinds } from '@lodge/domain';
import {
  AgentMember as Member,
  AgentMemberList,
  AgentParams,
  CreateMember,
  DeletedMember,
  MemberParams,
  maxMemberInstructionBytes,
  maxMembers,
  UpdateMember,
} from '@lodge/contract';
import type { AgentMember } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { instructionsOf } from '../agents/fields.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { changeNote } from '../../identity/change-note.ts';
import type { App } from '../../app-types.ts';
import type { Waiting } from '../../needs.ts';
import { afterEffect } from '../agents/wait.ts';

const tags = ['Members'];
const shared = { tags, params: MemberParams };
const read = { scopes: ['agents:read'], errors: ['agent_not_found'] } as const;
const change = { scopes: ['agents:write'], errors: ['agent_not_found', 'member_not_found'] } as const;

/** `GET` and `POST /v1/agents/:id/members`, `GET`, `PATCH` and `DELETE` of one by its name. */
const others =
  runtimeKinds.filter((kind) => !abilitiesOf(kind).hasMembers).length === 1 ? 'runtime holds' : 'runtimes hold';

export function memberRoutes(app: App, context: Waiting): void {
  readRoutes(app, context);
  createRoute(app, context);
  changeRoutes(app, context);
}

function readRoutes(app: App, context: Waiting): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/members',
    schema: {
      operationId: 'listMembers',
      tags,
      summary: 'List the members of an agent',
      description: `Further agents in the same machine, with model, instructions, workspace and conversations of their own. They share the agent's files and keys: what one can do, the others can. For ${kindsWith.members}; the other ${others} a single agent (400).`,
      params: AgentParams,
      response: { 200: { ...AgentMemberList, 'x-response-description': 'All of them, oldest first.' } },
    },
    config: read,
    handler: async (request) => {
      const row = await agentOf(context, request, request.params.id);
      const data = row.members.map((member) => record(context, row, member));
      return { object: 'list' as const, data, has_more: false as const, next_cursor: null };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agents/:id/members/:name',
    schema: {
      ...shared,
      operationId: 'getMember',
      summary: 'Read a member',
      response: { 200: { ...Member, 'x-response-description': 'The member.' } },
    },
    config: { ...read, errors: change.errors },
    handler: async (request) => {
      const row = await agentOf(context, request, request.params.id);
      return record(context, row, find(row.members, request.params.name));
    },
  });
}

function createRoute(app: App, context: Waiting): void {
  app.route({
    method: 'POST',
    url: '/v1/agents/:id/members',
    schema: {
      operationId: 'createMember',
      tags,
      summary: 'Add a member to an agent',
      description:
        "Comes into effect in the running machine, without a restart; the reply waits for that, for a bounded time, and `pending` says whether it is so. Members are spoken to as the agent is, with `<agent id>/<name>` for the model. Its workspace is `members/<name>` in the agent's.",
      params: AgentParams,
      body: CreateMember,
      response: { 201: { ...Member, 'x-response-description': 'The new member.' } },
    },
    config: { scopes: ['agents:write'], errors: ['agent_not_found', 'member_exists', 'quota_exceeded'] },
    handler: async (request, reply) => {
      const { id } = request.params;
      const { name, model = null } = request.body;
      const instructions = instructionsOf(request.body) ?? null;
      checkAgentId(id);
      const add = (members: readonly AgentMember[]): readonly AgentMember[] => {
        if (members.some((member) => member.name === name)) {
          throw new Refusal('member_exists', `This agent has a member named ${name}.`);
        }
        if (members.length >= maxMembers) {
          throw new Refusal('quota_exceeded', `An agent may have ${maxMembers} members.`);
        }
        return checked([...members, { name, model, instructions, createdAt: new Date() }]);
      };
      const row = await changed(context, request, reply, { id, name, type: 'agent.member_created', decide: add });
      return reply.code(201).send(record(context, row, find(row.members, name)));
    },
  });
}

function changeRoutes(app: App, context: Waiting): void {
  app.route({
    method: 'PATCH',
    url: '/v1/agents/:id/members/:name',
    schema: {
      ...shared,
      operationId: 'updateMember',
      summary: 'Change a member',
      description: 'Only what is given changes. A model is in effect with the next request.',
      body: UpdateMember,
      response: { 200: { ...Member, 'x-response-description': 'The member as it is now.' } },
    },
    config: change,
    handler: async (request, reply) => {
      const { id, name } = request.params;
      const { model } = request.body;
      const instructions = instructionsOf(request.body);
      checkAgentId(id);
      const given = { ...(model !== undefined && { model }), ...(instructions !== undefined && { instructions }) };
      const update = (members: readonly AgentMember[]): readonly AgentMember[] => {
        const before = find(members, name);
        return checked(members.map((member) => (member === before ? { ...member, ...given } : member)));
      };
      const row = await changed(context, request, reply, { id, name, type: 'agent.member_updated', decide: update });
      return record(context, row, find(row.members, name));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/members/:name',
    schema: {
      ...shared,
      operationId: 'deleteMember',
      summary: 'Remove a member',
      description: 'Its workspace and its conversations go with it.',
      response: { 200: { ...DeletedMember, 'x-response-description': 'It is a member no more.' } },
    },
    config: change,
    handler: async (request, reply) => {
      const { id, name } = request.params;
      checkAgentId(id);
      const remove = (members: readonly AgentMember[]): readonly AgentMember[] => {
        const gone = find(members, name);
        return members.filter((member) => member !== gone);
      };
      const row = await changed(context, request, reply, { id, name, type: 'agent.member_deleted', decide: remove });
      const pending = !context.agents.inEffect(row);
      return { object: 'member.deleted' as const, name, deleted: true as const, pending };
    },
  });
}

interface Change {
  readonly id: string;
  readonly name: string;
  readonly type: 'agent.member_created' | 'agent.member_updated' | 'agent.member_deleted';
  readonly decide: (members: readonly AgentMember[]) => readonly AgentMember[];
}

/** Returns the agent with the change, which is in effect if that happens in time. */
async function changed(
  context: Waiting,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, name, type, decide }: Change,
): Promise<AgentRow> {
  const { accountId } = request.principal;
  // An earlier attempt has made it, and was killed before it could answer.
  const made = request.idempotent?.effective === true;
  const row = made
    ? await agentOf(context, request, id)
    : await context.agents.changeMembers(accountId, id, decide, changeNote(request, { type, data: { name } }));
  request.scope.fields.agent_id = id;
  return afterEffect(context, reply, row);
}

async function agentOf({ agents }: Waiting, { principal }: FastifyRequest, id: string): Promise<AgentRow> {
  checkAgentId(id);
  const row = await agents.get(principal.accountId, id);
  checkHasMembers(row.runtimeKind);
  return row;
}

function find(members: readonly AgentMember[], name: string): AgentMember {
  const found = members.find((member) => member.name === name);
  if (!found) throw new Refusal('member_not_found', 'The agent has no such member.');
  return found;
}

function checked(members: readonly AgentMember[]): readonly AgentMember[] {
  const bytes = members.reduce((sum, { instructions }) => sum + Buffer.byteLength(instructions ?? ''), 0);
  if (bytes <= maxMemberInstructionBytes) return members;
  throw new Refusal(
    'invalid_request',
    `instructions of all members together may have at most ${maxMemberInstructionBytes} bytes of UTF-8.`,
  );
}

const record = ({ agents }: Waiting, row: AgentRow, member: AgentMember): Member => ({
  object: 'member',
  agent_id: row.id,
  name: member.name,
  model: member.model,
  instructions: member.instructions,
  chat_model: `${row.id}/${member.name}`,
  workspace: `members/${member.name}`,
  pending: !agents.inEffect(row),
  created_at: member.createdAt.toISOString(),
});
