/**
 * Consents that browsers come back from: for mailboxes, and for connections (OAuth 2.0 with PKCE, RFC 7636). The state goes
 * through the browser and is taken once; the verifier stays here, sealed. A process that dies between the exchange and the
 * write loses a consent that can be given again.
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
  readonly authorizationUrl: string;
  readonly state: string;
  readonly expiresAt: Date;
}

/** What a browser came back with; no code: the consent was not given. */
export interface ConsentBack {
  readonly state: string;
  readonly code: string | null;
  /** Of the authorization server (RFC 9207); null: it was not said. */
  readonly issuer: string | null;
}

export const newConsent = () => ({ id: randomUUID(), state: randomBytes(32).toString('base64url') });

type Of = Omit<NewOAuthSession, 'stateHash' | 'sealedVerifier'>;

/** `secret`: what the exchange needs. */
export async function keepConsent(
  { oauthSessions, secrets }: ConsentSessions,
  session: Of,
  { state, secret }: { readonly state: string; readonly secret: string },
): Promise<Date> {
  const sealedVerifier = secrets.seal(secret, oauthVerifierContext(session.agentId, session.id));
  const { expiresAt } = await oauthSessions.begin({ ...session, stateHash: hashOf(state), sealedVerifier }, ttlMs);
  return expiresAt;
}

/** Refuses with `link_not_valid`. */
export async function takeConsent(
  { oauthSessions, secrets }: ConsentSessions,
  state: string,
  kind: OAuthSessionKind,
): Promise<{ readonly session: OAuthSession; readonly secret: string }> {
  const session = await oauthSessions.take(hashOf(state), kind);
  if (session === null) throw new Refusal('link_not_valid', 'This consent was used before, or has taken too long.');
  return { session, secret: secrets.open(session.sealedVerifier, oauthVerifierContext(session.agentId, session.id)) };
}

const hashOf = (state: string): Uint8Array => hash('sha256', state, 'buffer');
