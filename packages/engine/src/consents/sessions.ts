/**
 * Consents that browsers give: for mailboxes, and for connections (OAuth 2.0 with PKCE, RFC 7636). The owner hands on the
 * address of a page of Lodge. The browser that agrees there gets a secret in a cookie; its answer is accepted only with that
 * secret, once. The verifier stays here, sealed. A process that dies between the exchange and the write loses a consent that
 * can be given again.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { Refusal } from '@lodge/domain';
import { oauthVerifierContext } from '@lodge/ports';
import type { SecretBox } from '@lodge/ports';
import { deleteConsentsBeyond, insertConsent, takeConsent as takeRow } from '@lodge/store/channels';
import type { ConsentKind, ConsentRow, NewConsent } from '@lodge/store/channels';
import type { Database } from '@lodge/store/database';

const ttlMs = 10 * 60_000;
/** Most consents of one agent and kind that are waited for: the newest are kept. */
const maxOpen = 10;

export interface ConsentSessions {
  readonly database: Database;
  readonly secrets: SecretBox;
}

export interface OAuthStart {
  readonly id: string;
  /** The token of the page that a person agrees on; a secret. */
  readonly pageToken: string;
  readonly state: string;
  readonly expiresAt: Date;
}

/** The reply that a browser brought back; without a code the consent was not given. */
export interface ConsentBack {
  readonly state: string;
  readonly code: string | null;
  /** The authorization server (RFC 9207); null if it did not say. */
  readonly issuer: string | null;
  /** The browser's own secret; null if it has none for this consent. */
  readonly browser: string | null;
}

/** The permission that a person gives, as the page describes it. */
export type ConsentGift =
  | { readonly kind: 'mailbox'; readonly address: string | null }
  | { readonly kind: 'connection'; readonly name: string; readonly server: string; readonly scope: string | null };

/** State that is sealed with the session. */
interface Kept {
  readonly secret: string;
  readonly authorizationUrl: string;
  readonly gift: ConsentGift;
}

export const newConsent = () => ({ id: randomUUID(), state: randomToken() });
export const randomToken = (): string => randomBytes(32).toString('base64url');

type Of = Omit<NewConsent, 'stateHash' | 'pageHash' | 'verifierSealed'>;

/** Begins a session; `secret` is what the exchange needs. */
export async function keepConsent(
  { database, secrets }: ConsentSessions,
  session: Of,
  { state, ...kept }: Kept & { readonly state: string },
): Promise<OAuthStart> {
  const pageToken = randomToken();
  const verifierSealed = secrets.seal(JSON.stringify(kept), oauthVerifierContext(session.agentId, session.id));
  const hashes = { stateHash: hashOf(state), pageHash: hashOf(pageToken) };
  const kind = session.connection === null ? 'mailbox' : 'connection';
  const expiresAt = await database.transaction(async (trx) => {
    const expires = await insertConsent(trx, { ...session, ...hashes, verifierSealed }, ttlMs);
    await deleteConsentsBeyond(trx, { agentId: session.agentId, kind }, maxOpen);
    return expires;
  });
  return { id: session.id, pageToken, state, expiresAt };
}

export const keptIn = ({ secrets }: ConsentSessions, { agentId, id, verifierSealed }: ConsentRow): Kept =>
  JSON.parse(secrets.open(verifierSealed, oauthVerifierContext(agentId, id))) as Kept;

/** Takes the session, once. Refuses with `link_not_valid`. */
export async function takeConsent(
  deps: ConsentSessions,
  { state, browser }: Pick<ConsentBack, 'state' | 'browser'>,
  kind: ConsentKind,
): Promise<{ readonly session: ConsentRow } & Kept> {
  // It is not repeated after a lost connection, because the consent may be gone by then.
  const take = (secret: string) => deps.database.once((db) => takeRow(db, hashOf(state), kind, hashOf(secret)));
  const session = browser === null ? undefined : await take(browser);
  if (!session?.lives) {
    const why = 'This consent was used before, has taken too long, or was agreed to in another browser.';
    throw new Refusal('link_not_valid', why);
  }
  return { session, ...keptIn(deps, session) };
}

export const hashOf = (text: string): Uint8Array => hash('sha256', text, 'buffer');
