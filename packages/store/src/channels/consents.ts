/**
 * A person's consent that an agent may use a mailbox or a connection. The agent's owner asks for it. A browser opens its
 * page and agrees, and the same browser comes back from the provider.
 *
 *     begun ── agree (browser) ──> agreed ── take (state, browser) ──> gone
 *       └── refuse ──> gone           └── its time ends ──> gone
 *
 * Page, browser and state are known by the SHA-256 of their tokens.
 */
import { sql } from 'kysely';
import type { Insertable, Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ChannelOauthSessions } from '../database/tables.ts';
import { inMs } from '../work/leases.ts';

/** `connection` is the one that it is for; null for a mailbox. `verifierSealed`: see `oauthVerifierContext`. */
export type ConsentRow = Selectable<ChannelOauthSessions>;
export type NewConsent = Omit<Insertable<ChannelOauthSessions>, 'browserHash' | 'createdAt' | 'expiresAt'>;

export type ConsentKind = 'mailbox' | 'connection';

const lives = sql<boolean>`expires_at > clock_timestamp()`;
const isFreeFor = (browserHash: Uint8Array) => sql<boolean>`(browser_hash is null or browser_hash = ${browserHash})`;
const isOf = (kind: ConsentKind) => sql<boolean>`(connection is null) = ${kind === 'mailbox'}`;

export async function insertConsent(trx: Transaction, consent: NewConsent, ttlMs: number): Promise<Date> {
  const { agentId, connection, id, accountId, stateHash, pageHash, verifierSealed, redirectUri, returnUrl } = consent;
  const { expiresAt } = await trx
    .insertInto('channelOauthSessions')
    .values({
      agentId,
      connection,
      id,
      accountId,
      stateHash,
      pageHash,
      verifierSealed,
      redirectUri,
      returnUrl,
      expiresAt: inMs(ttlMs),
    })
    .returning('expiresAt')
    .executeTakeFirstOrThrow();
  return expiresAt;
}

/** Deletes those whose time is over, and the agent's of this kind beyond the newest `most`. */
export async function deleteConsentsBeyond(
  trx: Transaction,
  { agentId, kind }: { readonly agentId: string; readonly kind: ConsentKind },
  most: number,
): Promise<void> {
  await sql`
    delete from channel_oauth_sessions where expires_at <= clock_timestamp() or (agent_id = ${agentId} and id in (
      select id from channel_oauth_sessions where agent_id = ${agentId} and ${isOf(kind)}
      order by created_at desc, id offset ${most}
    ))
  `.execute(trx);
}

export const findConsent = (db: Queries, pageHash: Uint8Array): Promise<ConsentRow | undefined> =>
  db.selectFrom('channelOauthSessions').selectAll().where('pageHash', '=', pageHash).where(lives).executeTakeFirst();

/** Binds the consent to this browser, unless it is another one's. Repeating it changes nothing. */
export const bindConsent = (
  db: Queries,
  pageHash: Uint8Array,
  browserHash: Uint8Array,
): Promise<ConsentRow | undefined> =>
  db
    .updateTable('channelOauthSessions')
    .set({ browserHash })
    .where('pageHash', '=', pageHash)
    .where(isFreeFor(browserHash))
    .where(lives)
    .returningAll()
    .executeTakeFirst();

/** Deletes the consent when no browser has agreed, or this one has. */
export async function deleteConsent(db: Queries, pageHash: Uint8Array, browserHash: Uint8Array): Promise<void> {
  await db.deleteFrom('channelOauthSessions').where('pageHash', '=', pageHash).where(isFreeFor(browserHash)).execute();
}

/** Deletes and returns the consent of this state and kind that this browser agreed to. Its time may be over. */
export const takeConsent = (
  db: Queries,
  stateHash: Uint8Array,
  kind: ConsentKind,
  browserHash: Uint8Array,
): Promise<(ConsentRow & { readonly lives: boolean }) | undefined> =>
  db
    .deleteFrom('channelOauthSessions')
    .where('stateHash', '=', stateHash)
    .where('browserHash', '=', browserHash)
    .where(isOf(kind))
    .returningAll()
    .returning(lives.as('lives'))
    .executeTakeFirst();
