import { abilitiesOf, Refusal, sizes } from '@lodge/domain';
import { Agent, Lifecycle, patterns } from '@lodge/contract';
import type { SizeName } from '@lodge/domain';
import type { Agents } from '@lodge/engine';
import { llmKeyContext } from '@lodge/ports';
import type { Machine } from '@lodge/ports';
import type { AgentRow } from '@lodge/store/agents';
import type { FastifyReply } from 'fastify';
import { originOf } from '../agent-urls/address.ts';
import type { AgentUrlSettings } from '../context.ts';
import type { AgentReplies } from '../needs.ts';
import { etagOf } from './etag.ts';
import { spendLimitRecord } from './spend-limit.ts';
import { toWire } from './to-wire.ts';

/** The public record of an agent: the only place where a row becomes one. */
export function agentRecord(row: AgentRow, { agents, agentUrl: url, fingerprints }: AgentReplies): Agent {
  return toWire(Agent, {
    ...row,
    settingsPending: !agents.inEffect(row),
    statusReason: row.statusReason && { ...row.statusReason, at: row.statusReason.at.toISOString() },
    transition: transitionRecord(row),
    runtime: agents.runtimeOf(row),
    upgradeAvailable: agents.canUpgrade(row),
    machine: machineRecord(row.machine ?? sizes[row.size]),
    disk: diskRecord(row, agents),
    url: originOf({ id: row.id, kind: row.runtimeKind, port: null }, url),
    dashboardUrl: dashboardUrl(row, url),
    llmKeys: row.llmKeys.map(({ provider, sealed, last4, createdAt }) => ({
      provider,
      last4,
      fingerprint: fingerprints.ofSealed(row.accountId, 'llm_key', sealed, llmKeyContext(row.id, provider)),
      created_at: createdAt.toISOString(),
    })),
    lifecycle: toWire(Lifecycle, row.lifecycle),
    spendLimit: spendLimitRecord(row.spendLimit),
    forkedFrom: forkedFromRecord(row.forkedFrom),
  });
}

/** A closed set within v1: a save is not shown, because the agent stays as it was, and going back is a restart to clients. */
function transitionRecord({ operation }: AgentRow): Agent['transition'] {
  if (operation === null || operation.kind === 'snapshot') return null;
  const kind = operation.kind === 'restore' ? 'restart' : operation.kind;
  return { kind, started_at: operation.startedAt.toISOString() };
}

/** The record as the body of a reply, with its ETag. */
export function agentReply(reply: FastifyReply, row: AgentRow, needs: AgentReplies): Agent {
  reply.header('etag', etagOf(row));
  return agentRecord(row, needs);
}

/** Headers of every reply whose body is one agent, for the reference. */
export const agentHeaders = { ETag: { type: 'string', description: 'Of this record, for If-Match.' } };

/** A machine size in the units of the wire. */
export const machineOf = (size: SizeName): Agent['machine'] => machineRecord(sizes[size]);

const machineRecord = ({ vcpus, memoryMib, diskGib }: Machine): Agent['machine'] => ({
  vcpus,
  memory_mb: memoryMib,
  disk_gb: diskGib,
});

const forkedFromRecord = (from: AgentRow['forkedFrom']): Agent['forked_from'] =>
  from && { agent_id: from.agent_id, snapshot_id: from.snapshot_id, at: from.at };

function diskRecord({ id, machine, size }: AgentRow, agents: Agents): Agent['disk'] {
  const usedMib = agents.diskUsedMib(id);
  return {
    limit_gb: (machine ?? sizes[size]).diskGib,
    used_gb: usedMib === null ? null : Number((usedMib / 1024).toFixed(2)),
  };
}

/** Where the agent's dashboard is served; null while it has none. */
function dashboardUrl({ id, runtimeKind: kind, dashboard }: AgentRow, url: AgentUrlSettings): string | null {
  const port = dashboard ? abilitiesOf(kind).dashboardPort : null;
  return port === null ? null : originOf({ id, kind, port }, url);
}

const agentId = new RegExp(patterns.agentId);

export const isAgentId = (text: string): boolean => agentId.test(text);

/** Checks an id from a path or a model name: a malformed id is an agent that does not exist. */
export function checkAgentId(id: string): void {
  if (!isAgentId(id)) throw new Refusal('agent_not_found', 'No agent has this id.');
}

/** The path of an agent's record. */
export const agentPath = (id: string): string => `/v1/agents/${id}`;
