/**
 * Consents that browsers give: for mailboxes, and for connections (OAuth 2.0 with PKCE, RFC 7636). The owner hands on the
 * address of a page of Lodge. The browser that agrees there gets a secret in a cookie; its answer is accepted only with that
 * secret, once. The verifier stays here, sealed. A process that dies between the exchange and the write loses a consent that
 * can be given again.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { Refusal } from '@lodge/domain';
import { oauthVerifierContext } from '@lodge/ports';
import type { NewOAuthSession, OAuthSession, OAuthSessionKind, OAuthSessionStore, SecretBox } from '@lodge/ports';

const ttlMs = 10 * 60_000;

export interface ConsentSessions {
  readonly oauthSessions: OAuthSessionStore;
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

type Of = Omit<NewOAuthSession, 'stateHash' | 'pageHash' | 'sealedVerifier'>;

/** Begins a session; `secret` is what the exchange needs. */
export async function keepConsent(
  { oauthSessions, secrets }: ConsentSessions,
  session: Of,
  { state, ...kept }: Kept & { readonly state: string },
): Promise<OAuthStart> {
  const pageToken = randomToken();
  const sealedVerifier = secrets.seal(JSON.stringify(kept), oauthVerifierContext(session.agentId, session.id));
  const hashes = { stateHash: hashOf(state), pageHash: hashOf(pageToken) };
  const { expiresAt } = await oauthSessions.begin({ ...session, ...hashes, sealedVerifier }, ttlMs);
  return { id: session.id, pageToken, state, expiresAt };
}

export const keptIn = ({ secrets }: ConsentSessions, { agentId, id, sealedVerifier }: OAuthSession): Kept =>
  JSON.parse(secrets.open(sealedVerifier, oauthVerifierContext(agentId, id))) as Kept;

/** Takes the session, once. Refuses with `link_not_valid`. */
export async function takeConsent(
  deps: ConsentSessions,
  { state, browser }: Pick<ConsentBack, 'state' | 'browser'>,
  kind: OAuthSessionKind,
): Promise<{ readonly session: OAuthSession } & Kept> {
  const session = browser === null ? null : await deps.oauthSessions.take(hashOf(state), kind, hashOf(browser));
  if (session === null) {
    const why = 'This consent was used before, has taken too long, or was agreed to in another browser.';
    throw new Refusal('link_not_valid', why);
  }
  return { session, ...keptIn(deps, session) };
}

export const hashOf = (text: string): Uint8Array => hash('sha256', text, 'buffer');
