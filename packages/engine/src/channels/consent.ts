/** Connects a mailbox by its owner's consent. */
import { hash, randomBytes } from 'node:crypto';
import { defaultAccess, Refusal } from '@lodge/domain';
import { ChannelFailure } from '@lodge/ports';
import type { GmailConsent, GmailConsentAnswer, GmailGrant } from '@lodge/ports';
import { findChannel } from '@lodge/store/channels';
import { keepConsent, newConsent, takeConsent } from '../consents/sessions.ts';
import type { ConsentBack, ConsentGift, OAuthStart } from '../consents/sessions.ts';
import { sealedOf } from './credentials.ts';
import type { ChannelsDeps } from './deps.ts';
import { storeChannel } from './put.ts';

const exchangeTimeoutMs = 20_000;
const channel = 'gmail';

export interface ConsentAsk {
  readonly redirectUri: string;
  readonly returnUrl: string | null;
  readonly loginHint: string | null;
}

export interface OAuthEnd {
  readonly agentId: string;
  /** The address that the agent answers from now on. */
  readonly mailbox: string;
  /** The page that the person goes to next; null: none. */
  readonly returnUrl: string | null;
}

export async function startConsent(
  deps: ChannelsDeps,
  accountId: string,
  agentId: string,
  { redirectUri, returnUrl, loginHint }: ConsentAsk,
): Promise<OAuthStart> {
  await deps.agents.get(accountId, agentId);
  const gmail = configured(deps.gmail);
  const { id, state } = newConsent();
  const verifier = randomBytes(48).toString('base64url');
  const challenge = hash('sha256', verifier, 'base64url');
  const authorizationUrl = gmail.authorizationUrl({ state, challenge, redirectUri, loginHint });
  const session = { id, accountId, agentId, connection: null, redirectUri, returnUrl };
  const gift = { kind: 'mailbox', address: loginHint } as const;
  return keepConsent(deps, session, { state, secret: verifier, authorizationUrl, gift });
}

export async function finishConsent(deps: ChannelsDeps, back: ConsentBack, signal: AbortSignal): Promise<OAuthEnd> {
  const gmail = configured(deps.gmail);
  const { session, secret: verifier, gift } = await takeConsent(deps, back, 'mailbox');
  const { code } = back;
  if (code === null) throw new Refusal('invalid_request', 'The consent was not given.');
  const { accountId, agentId, returnUrl, redirectUri } = session;
  await deps.agents.get(accountId, agentId);
  const { refreshToken, email } = await grantOf(deps, gmail, agentId, { code, verifier, redirectUri }, signal);
  checkMailbox(email, gift);
  const present = await deps.database.repeatable((db) => findChannel(db, { accountId, agentId, channel }));
  const change = {
    accountId,
    agentId,
    channel,
    enabled: true,
    access: present?.access ?? defaultAccess,
    credentials: sealedOf(deps.secrets, agentId, channel, { refreshToken }),
    accountKey: email,
  } as const;
  await storeChannel(deps.database, change);
  return { agentId, mailbox: email, returnUrl };
}

/** A person who was asked for one mailbox may be signed in with another one. */
function checkMailbox(email: string, gift: ConsentGift): void {
  const wanted = gift.kind === 'mailbox' ? gift.address : null;
  if (wanted === null || sameMailbox(wanted) === sameMailbox(email)) return;
  throw new Refusal('invalid_request', `The consent is for another mailbox than ${wanted}. Sign in with that one.`);
}

/** Whether two addresses are one mailbox. Google treats its names with and without dots, and its two domains, as one. */
function sameMailbox(address: string): string {
  const [name = '', domain = ''] = address.trim().toLowerCase().split('@', 2);
  const isGoogles = domain === 'gmail.com' || domain === 'googlemail.com';
  return isGoogles ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`;
}

async function grantOf(
  { log }: ChannelsDeps,
  gmail: GmailConsent,
  agentId: string,
  answer: GmailConsentAnswer,
  signal: AbortSignal,
): Promise<GmailGrant> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(exchangeTimeoutMs)]);
  try {
    return await gmail.exchange(answer, bound);
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
