import { Host as HostReply } from '@lodge/contract';
import type { Accounts, Host, HostReport } from '@lodge/engine';
import type { App } from '../../app-types.ts';

interface Needs {
  readonly host: Host;
  readonly accounts: Pick<Accounts, 'account'>;
  readonly version: string;
}

/** Words of a builder or of a check may be those of a program that failed. */
const maxWords = 1_000;

/** `GET /v1/host`. */
export function hostRoute(app: App, { host, accounts, version }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/host',
    schema: {
      operationId: 'getHost',
      tags: ['Service'],
      summary: 'Read the state of the machine',
      description:
        'For an owner: memory and disk, the agents that hold the most, templates, versions, what is weak, and backups. Held for some seconds; a part that the machine does not answer in time is null.',
      response: { 200: { ...HostReply, 'x-response-description': 'The machine.' } },
    },
    config: { scopes: ['usage:read'], errors: ['owner_only'] },
    handler: async ({ principal: { accountId } }) => {
      const report = await host.report(await accounts.account(accountId));
      return record(report, { accountId, version });
    },
  });
}

function record(report: HostReport, { accountId, version }: { readonly accountId: string; readonly version: string }) {
  const { memory, disk, agents, look, backups } = report;
  return {
    object: 'host' as const,
    looked_at: report.lookedAt.toISOString(),
    memory: memory && {
      total_mib: Math.round(memory.totalMib),
      available_mib: Math.round(memory.availableMib),
      agents_mib: agents && Math.round(agents.memoryMib),
    },
    disk: disk && {
      total_mib: Math.round(disk.totalMib),
      free_mib: Math.round(disk.freeMib),
      agents_mib: agents && Math.round(agents.diskMib),
    },
    agents: agents && agentsRecord(agents, accountId),
    templates: report.templates.map(({ runtime, state, step, fraction, since }) => ({
      runtime,
      state,
      step: step.slice(0, maxWords),
      fraction,
      since: since.toISOString(),
    })),
    versions: {
      lodge: version,
      runtimes: report.runtimes.map(({ runtime, current, newest, outdatedAgents }) => ({
        runtime,
        current,
        newest,
        outdated_agents: outdatedAgents,
      })),
    },
    findings: look && findingRecords(look.findings),
    unseen: [...(look?.unseen ?? [])],
    backups: backups && {
      place: backups.place,
      times: [...backups.times],
      last: backups.last && {
        made_at: backups.last.at.toISOString(),
        place: backups.last.place,
        name: backups.last.name,
      },
      is_known: backups.isKnown,
    },
  };
}

const agentsRecord = ({ total, byStatus, unread, top }: NonNullable<HostReport['agents']>, accountId: string) => ({
  total,
  by_status: [...byStatus].map(([status, count]) => ({ status, count })),
  unread,
  top: top.map((agent) => ({
    id: agent.id,
    // A name is its owner's text: other people's agents are counted and not read.
    name: agent.accountId === accountId ? agent.name : null,
    account_id: agent.accountId,
    status: agent.status,
    memory_mib: agent.memoryMib === null ? null : Math.round(agent.memoryMib),
    disk_mib: Math.round(agent.diskMib),
    snapshot_mib: Math.round(agent.snapshotMib),
  })),
});

const order = ['fail', 'warn', 'note'] as const;

const findingRecords = (findings: NonNullable<HostReport['look']>['findings']) =>
  order.flatMap((state) =>
    findings
      .filter((finding) => finding.state === state)
      .map(({ name, detail, advice }) => ({
        name,
        state,
        detail: detail.slice(0, maxWords),
        advice: advice && advice.slice(0, maxWords),
      })),
  );
