/**
 * Consents that browsers give: for mailboxes, and for connections (OAuth 2.0 with PKCE, RFC 7636). The address that the owner hands on
 * is a page of ours; the browser that agrees there has a secret in a cookie, and only with it its answer is taken, once. The verifier
 * stays here, sealed. A process that dies between the exchange and the write loses a consent that can be given again.
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
  /** Of the page that a person agrees on; a secret. */
  readonly pageToken: string;
  readonly state: string;
  readonly expiresAt: Date;
}

/** What a browser came back with; no code: the consent was not given. */
export interface ConsentBack {
  readonly state: string;
  readonly code: string | null;
  /** Of the authorization server (RFC 9207); null: it was not said. */
  readonly issuer: string | null;
  /** The browser's own secret; null: it has none for this consent. */
  readonly browser: string | null;
}

/** What is given, as a person is told it. */
export type ConsentGift =
  | { readonly kind: 'mailbox'; readonly address: string | null }
  | { readonly kind: 'connection'; readonly name: string; readonly server: string; readonly scope: string | null };

/** Sealed with the session. */
interface Kept {
  readonly secret: string;
  readonly authorizationUrl: string;
  readonly gift: ConsentGift;
}

export const newConsent = () => ({ id: randomUUID(), state: randomToken() });
export const randomToken = (): string => randomBytes(32).toString('base64url');

type Of = Omit<NewOAuthSession, 'stateHash' | 'pageHash' | 'sealedVerifier'>;

/** `secret`: what the exchange needs. */
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

/** Refuses with `link_not_valid`. */
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
