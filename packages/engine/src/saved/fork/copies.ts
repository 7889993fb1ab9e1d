/** The parts of their parent that forks get beside its row: skills always; schedules, connections and ports where it is asked for. */
import { randomInt } from 'node:crypto';
import { makeAgentId } from '@lodge/domain';
import type { ForkInclude } from '@lodge/domain';
import {
  connectionClientSecretContext,
  connectionHeaderContext,
  connectionSecretContext,
  noDelivery,
} from '@lodge/ports';
import type { ConnectionRow, SecretBox } from '@lodge/ports';
import { copyPorts } from '@lodge/store/agents';
import type { AgentRow } from '@lodge/store/agents';
import { connectionsOf, insertConnections } from '@lodge/store/connections';
import type { NewConnections } from '@lodge/store/connections';
import type { Transaction } from '@lodge/store/database';
import { insertSchedules, schedulesOf } from '@lodge/store/schedules';
import { copyAgentSkills } from '@lodge/store/skills';
import { renewWanted } from '../../agent-skills/wanted.ts';
import { nothingPlaced } from '../../agents/settings.ts';
import { deliverColumns } from '../../channels/deliver-columns.ts';
import { sealedAgain } from './seal-again.ts';

type Parent = Pick<AgentRow, 'id' | 'accountId' | 'skillsWanted'>;

/** Call it with parent and library locked, and with the forks' rows there. */
export async function copyBelongings(
  trx: Transaction,
  secrets: SecretBox,
  parent: Parent,
  forks: readonly string[],
  include: readonly ForkInclude[],
): Promise<void> {
  if (parent.skillsWanted !== nothingPlaced) {
    await copyAgentSkills(trx, parent.id, forks);
    await renewWanted(trx, forks);
  }
  if (include.includes('ports')) await copyPorts(trx, parent.id, forks);
  if (include.includes('schedules')) await copySchedules(trx, parent, forks);
  if (include.includes('connections')) await copyConnections(trx, secrets, parent, forks);
}

/** They are disabled, and their answers go to no channel, because forks have none. */
async function copySchedules(trx: Transaction, { id, accountId }: Parent, forks: readonly string[]): Promise<void> {
  const schedules = await schedulesOf(trx, accountId, id);
  for (const agentId of forks) {
    const copies = schedules.map(
      ({ name, cron, every, at, timeZone, anchor, prompt, conversation, deliverTo, wake }) => ({
        id: makeAgentId(randomInt),
        agentId,
        accountId,
        name,
        enabled: false,
        cron,
        every,
        at,
        timeZone,
        anchor,
        prompt,
        conversation,
        ...deliverColumns(deliverTo === 'webhook' ? { to: deliverTo, channel: null, conversation: null } : noDelivery),
        wake,
        nextRunAt: null,
      }),
    );
    await insertSchedules(trx, copies);
  }
}

async function copyConnections(
  trx: Transaction,
  secrets: SecretBox,
  { id, accountId }: Parent,
  forks: readonly string[],
): Promise<void> {
  const rows = await connectionsOf(trx, accountId, id);
  for (const agentId of forks) await insertConnections(trx, copiesOf(secrets, rows, agentId));
}

/** Whoever is first renews a grant of OAuth, so a copy would take it from the parent: a fork asks for its own. */
function copiesOf(secrets: SecretBox, rows: readonly ConnectionRow[], agentId: string): NewConnections {
  const again: SealAgain = (row, sealed, contextOf) =>
    sealedAgain(secrets, sealed, {
      from: contextOf(row.agentId),
      to: contextOf(agentId),
      what: `A credential of the connection ${row.name}`,
    });
  return {
    connections: rows.map(({ accountId, name, kind, url, hosts, allow, tools, enabled, statusReason }) => ({
      agentId,
      accountId,
      name,
      kind,
      url,
      hosts: JSON.stringify(hosts),
      allow: JSON.stringify(allow),
      tools: tools && JSON.stringify(tools),
      enabled,
      statusReason,
    })),
    headers: rows.flatMap((row) =>
      row.headers.map(({ name, sealed, last4 }) => ({
        agentId,
        connection: row.name,
        name,
        sealed: again(row, sealed, (agent) => connectionHeaderContext(agent, row.name, name)),
        last4,
      })),
    ),
    secrets: rows.flatMap((row) =>
      row.secrets.map(({ name, sealed, last4, headers, placeholder }) => ({
        agentId,
        connection: row.name,
        name,
        sealed: again(row, sealed, (agent) => connectionSecretContext(agent, row.name, name)),
        last4,
        headers: JSON.stringify(headers),
        // Programs in the machine have it already.
        placeholder,
      })),
    ),
    oauth: rows.flatMap((row) => oauthOf(row, agentId, again)),
  };
}

type SealAgain = (row: ConnectionRow, sealed: string, contextOf: (agent: string) => string) => string;

function oauthOf({ oauth, ...row }: ConnectionRow, agentId: string, again: SealAgain): NewConnections['oauth'] {
  if (oauth === null) return [];
  const { clientId, clientSecret, clientIssuer, scope, endpoints } = oauth;
  const secretOf = ({ sealed }: { readonly sealed: string }): string =>
    again({ ...row, oauth }, sealed, (agent) => connectionClientSecretContext(agent, row.name));
  return [
    {
      agentId,
      connection: row.name,
      clientId,
      clientSecretSealed: clientSecret && secretOf(clientSecret),
      clientSecretLast4: clientSecret?.last4 ?? '',
      clientIssuer,
      scope,
      authorizationUrl: endpoints?.authorizationUrl ?? null,
      tokenUrl: endpoints?.tokenUrl ?? null,
      clientAuth: endpoints?.clientAuth ?? null,
    },
  ];
}
