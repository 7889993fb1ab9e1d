/** Links to agents' pages and the visits that they become. Rows hold only the SHA-256 of their tokens. */
import type { PrincipalSource } from '@lodge/ports';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { sessionInForce } from '../accounts/sessions.ts';
import type { Queries, Transaction } from '../database/database.ts';
import type { AgentVisits } from '../database/tables.ts';

/** One page of an agent. */
export interface AgentPage {
  readonly agentId: string;
  /** Null for its gateway, zero for the view of its browser; else a port of its guest. */
  readonly port: number | null;
}

/** A browser's right to view one page of one agent for a while; before it is opened, a link to the page. */
export type VisitRow = Selectable<AgentVisits>;

/** A link to be made: its maker, its destination, and how long it can be opened and then viewed. */
export interface NewAgentLink extends AgentPage {
  readonly accountId: string;
  /** The key or session that link and visit end with. */
  readonly by: PrincipalSource;
  readonly path: string;
  readonly linkSeconds: number;
  readonly visitSeconds: number;
}

/**
 * A condition: the link or visit is not over, its key or session is in force, and its agent is not being deleted. An ended
 * session removed its rows. It is a part of the statement that uses a link up, so that of two browsers one opens it.
 */
const inForce = sql<boolean>`(
  agent_visits.expires_at > now()
  and (
    exists (
      select from api_keys k where k.id = agent_visits.key_id and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > now())
    )
    or exists (select from sessions where sessions.id = agent_visits.session_id and ${sessionInForce})
  )
  and exists (select from agents a where a.id = agent_visits.agent_id and a.desired = 'running')
)`;

/** Returns the time at which the link expires; undefined when the account has no such agent, or it is being deleted. */
export async function insertLink(
  trx: Transaction,
  { accountId, by, agentId, port, path, linkSeconds, visitSeconds }: NewAgentLink,
  hash: Uint8Array,
): Promise<Date | undefined> {
  const [keyId, sessionId] = by.kind === 'api_key' ? [by.id, null] : [null, by.id];
  const { rows } = await sql<{ readonly expiresAt: Date }>`
    insert into agent_visits (account_id, key_id, session_id, agent_id, port, path, visit_seconds, hash, expires_at)
    select ${accountId}, ${keyId}, ${sessionId}, id, ${port}, ${path}, ${visitSeconds}, ${hash},
      now() + ${linkSeconds} * interval '1 second'
    from agents where id = ${agentId} and account_id = ${accountId} and desired = 'running'
    returning expires_at
  `.execute(trx);
  return rows[0]?.expiresAt;
}

/** Deletes the agent's links and visits beyond the newest `most`. */
export async function deleteVisitsBeyond(trx: Transaction, agentId: string, most: number): Promise<void> {
  await sql`
    delete from agent_visits where id in (
      select id from agent_visits where agent_id = ${agentId} order by created_at desc, id offset ${most}
    )
  `.execute(trx);
}

/** Turns a link that can still be opened into a visit, whose hash replaces the link's. */
export const takeLink = (
  db: Queries,
  { agentId, port }: AgentPage,
  linkHash: Uint8Array,
  visitHash: Uint8Array,
): Promise<VisitRow | undefined> =>
  db
    .updateTable('agentVisits')
    .set({
      hash: visitHash,
      openedAt: sql<Date>`now()`,
      expiresAt: sql<Date>`now() + visit_seconds * interval '1 second'`,
    })
    .where('hash', '=', linkHash)
    .where('openedAt', 'is', null)
    .where('agentId', '=', agentId)
    .where('port', 'is not distinct from', port)
    .where(inForce)
    .returningAll()
    .executeTakeFirst();

export const findVisit = (db: Queries, { agentId, port }: AgentPage, hash: Uint8Array): Promise<VisitRow | undefined> =>
  db
    .selectFrom('agentVisits')
    .selectAll()
    .where('hash', '=', hash)
    .where('openedAt', 'is not', null)
    .where('agentId', '=', agentId)
    .where('port', 'is not distinct from', port)
    .where(inForce)
    .executeTakeFirst();

/** Ends all links and visits of an account. */
export async function endVisits(trx: Transaction, accountId: string): Promise<void> {
  await trx.deleteFrom('agentVisits').where('accountId', '=', accountId).execute();
}

export async function pruneVisits(db: Queries, limit: number): Promise<void> {
  await sql`
    delete from agent_visits where id in (
      select id from agent_visits where expires_at < now() limit ${limit} for update skip locked
    )
  `.execute(db);
}
