/**
 * A mailbox by its owner's consent (OAuth 2.0 with PKCE, RFC 7636). The state goes through the browser and is taken once; the
 * verifier stays here, sealed. A process that dies between the exchange and the write loses a consent that can be given again.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { defaultAccess, Refusal } from '@lodge/domain';
import { ChannelFailure, oauthVerifierContext } from '@lodge/ports';
import type { GmailConsent, GmailGrant, OAuthSession } from '@lodge/ports';
import type { ConsentAsk, OAuthEnd, OAuthStart } from './channels.ts';
import { sealedOf } from './credentials.ts';
import type { ChannelsDeps } from './deps.ts';
import { stored } from './put.ts';

const ttlMs = 10 * 60_000;
const exchangeTimeoutMs = 20_000;
const channel = 'gmail';

export async function startConsent(
  deps: ChannelsDeps,
  accountId: string,
  agentId: string,
  { redirectUri, returnUrl, loginHint }: ConsentAsk,
): Promise<OAuthStart> {
  await deps.agents.get(accountId, agentId);
  const gmail = configured(deps.gmail);
  const id = randomUUID();
  const state = randomBytes(32).toString('base64url');
  const verifier = randomBytes(48).toString('base64url');
  const session = {
    id,
    accountId,
    agentId,
    stateHash: hashOf(state),
    sealedVerifier: deps.secrets.seal(verifier, oauthVerifierContext(agentId, id)),
    redirectUri,
    returnUrl,
  };
  const { expiresAt } = await deps.oauthSessions.begin(session, ttlMs);
  const challenge = hash('sha256', verifier, 'base64url');
  const authorizationUrl = gmail.authorizationUrl({ state, challenge, redirectUri, loginHint });
  return { id, authorizationUrl, state, expiresAt };
}

export async function finishConsent(
  deps: ChannelsDeps,
  { state, code }: { readonly state: string; readonly code: string | null },
  signal: AbortSignal,
): Promise<OAuthEnd> {
  const gmail = configured(deps.gmail);
  const session = await deps.oauthSessions.take(hashOf(state));
  if (session === null) throw new Refusal('link_not_valid', 'This consent was used before, or has taken too long.');
  if (code === null) throw new Refusal('invalid_request', 'The consent was not given.');
  const { accountId, agentId, returnUrl } = session;
  await deps.agents.get(accountId, agentId);
  const { refreshToken, email } = await grantOf(deps, gmail, session, code, signal);
  const present = await deps.store.find(accountId, agentId, channel);
  const change = {
    accountId,
    agentId,
    channel,
    enabled: true,
    access: present?.access ?? defaultAccess,
    credentials: sealedOf(deps.secrets, agentId, channel, { refreshToken }),
    accountKey: email,
  } as const;
  await stored(deps.store, change);
  return { agentId, mailbox: email, returnUrl };
}

async function grantOf(
  { secrets, log }: ChannelsDeps,
  gmail: GmailConsent,
  { id, agentId, redirectUri, sealedVerifier }: OAuthSession,
  code: string,
  signal: AbortSignal,
): Promise<GmailGrant> {
  const verifier = secrets.open(sealedVerifier, oauthVerifierContext(agentId, id));
  const bound = AbortSignal.any([signal, AbortSignal.timeout(exchangeTimeoutMs)]);
  try {
    return await gmail.exchange({ code, verifier, redirectUri }, bound);
  } catch (error) {
    if (error instanceof ChannelFailure) throw new Refusal('invalid_request', error.reason.message);
    log.warn({ agent_id: agentId, timed_out: bound.aborted }, 'a consent for Gmail could not be exchanged');
    throw new Refusal('invalid_request', 'Google did not answer. Begin again.');
  }
}

function configured(gmail: GmailConsent | null): GmailConsent {
  if (gmail !== null) return gmail;
  throw new Refusal('gmail_not_configured', 'The operator of this deployment has given no Google client.');
}

const hashOf = (state: string): Uint8Array => hash('sha256', state, 'buffer');
