import {
  AgentParams,
  AgentSkill,
  AgentSkillList,
  AgentSkillParams,
  AgentSkillRemoved,
  PutAgentSkill,
} from '@lodge/contract';
import type { AgentSkill as AgentSkillOf, AgentSkillUses } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import type { Waiting } from '../../needs.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { toWire } from '../../reply/to-wire.ts';
import { afterEffect } from '../agents/wait.ts';
import { tags } from './skills.ts';

interface Needs extends Waiting {
  readonly agentSkills: AgentSkillUses;
}

const errors = ['agent_not_found', 'skill_not_found'] as const;
const shared = { tags, params: AgentSkillParams };

const record = (row: AgentSkillOf): AgentSkill =>
  toWire(AgentSkill, { ...row, skill: row.skillId, version: row.version ?? 'latest' });

/** `GET /v1/agents/:id/skills`, `GET`, `PUT` and `DELETE /v1/agents/:id/skills/:name`. */
export function agentSkillRoutes(app: App, needs: Needs): void {
  readRoutes(app, needs);
  putRoute(app, needs);
  deleteRoute(app, needs);
}

function readRoutes(app: App, { agentSkills }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/agents/:id/skills',
    schema: {
      operationId: 'listAgentSkills',
      tags,
      summary: 'List the skills of an agent',
      description: 'Those of the library that its machine has. Skills that the agent wrote itself are not among them.',
      params: AgentParams,
      response: { 200: { ...AgentSkillList, 'x-response-description': 'All of them, by name.' } },
    },
    config: { scopes: ['agents:read'], errors: ['agent_not_found'] },
    handler: async ({ params: { id }, principal }) => {
      checkAgentId(id);
      const rows = await agentSkills.list(principal.accountId, id);
      return { object: 'list' as const, data: rows.map(record), has_more: false as const, next_cursor: null };
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/agents/:id/skills/:name',
    schema: {
      ...shared,
      operationId: 'getAgentSkill',
      summary: 'Read a skill of an agent',
      response: { 200: { ...AgentSkill, 'x-response-description': 'The skill, and its state in the machine.' } },
    },
    config: { scopes: ['agents:read'], errors },
    handler: async ({ params: { id, name }, principal }) => {
      checkAgentId(id);
      return record(await agentSkills.look(principal.accountId, id, name));
    },
  });
}

function putRoute(app: App, needs: Needs): void {
  const { agentSkills } = needs;
  app.route({
    method: 'PUT',
    url: '/v1/agents/:id/skills/:name',
    schema: {
      ...shared,
      operationId: 'putAgentSkill',
      summary: 'Give an agent a skill',
      description:
        'Replaces what is there, in every state of the agent. The next turn of every conversation has it, without a restart. The reply waits for the running machine, for a bounded time; `state` says how far it came.',
      body: PutAgentSkill,
      response: { 200: { ...AgentSkill, 'x-response-description': 'The skill as the agent has it now.' } },
    },
    config: { scopes: ['agents:write'], errors: [...errors, 'agent_outdated', 'quota_exceeded'] },
    handler: async (request, reply) => {
      const { id, name } = request.params;
      checkAgentId(id);
      const { skill = name, version = 'latest', enabled = true, members = null } = request.body;
      const { accountId } = request.principal;
      const input = { name, skill, version: version === 'latest' ? null : version, enabled, members };
      const agent = await agentSkills.put(accountId, id, input, actorNote(request));
      await afterEffect(needs, reply, agent);
      return record(await agentSkills.find(accountId, id, name));
    },
  });
}

function deleteRoute(app: App, needs: Needs): void {
  const { agentSkills, agents } = needs;
  app.route({
    method: 'DELETE',
    url: '/v1/agents/:id/skills/:name',
    schema: {
      ...shared,
      operationId: 'deleteAgentSkill',
      summary: 'Take a skill from an agent',
      description: 'The library keeps it. The next turn does not have it.',
      response: { 200: { ...AgentSkillRemoved, 'x-response-description': 'The agent has it no more.' } },
    },
    config: { scopes: ['agents:write'], errors },
    handler: async (request, reply) => {
      const { id, name } = request.params;
      checkAgentId(id);
      const removed = await agentSkills.remove(request.principal.accountId, id, name, actorNote(request));
      const agent = await afterEffect(needs, reply, removed);
      return { object: 'agent_skill.deleted' as const, name, deleted: true as const, pending: !agents.inEffect(agent) };
    },
  });
}
