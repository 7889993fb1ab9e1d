/** A channel's credentials: finds missing ones, asks the platform about them, and seals them. */
import { hash } from 'node:crypto';
import { accountOfToken, channelCredentials, channelTitles, lastFour, Refusal, unverifiedAccount } from '@lodge/domain';
import type { ChannelName } from '@lodge/domain';
import { ChannelFailure, channelCredentialContext } from '@lodge/ports';
import type { ChannelSecrets, SecretBox, Verified } from '@lodge/ports';
import type { ChannelRow, NewChannel } from '@lodge/store/channels';
import type { ChannelsDeps } from './deps.ts';
import type { ChannelInput, PutOptions } from './input.ts';

/** Longer than the platform client waits, because the client's own error says more. */
const verifyTimeoutMs = 30_000;

/** Joins the given credentials with stored ones where none is given. Refuses when one is missing. */
export function merged(
  secrets: SecretBox,
  input: ChannelInput,
  stored: ChannelRow | null,
  prefix = '',
): ChannelSecrets {
  const kept = stored === null ? {} : openedOf(secrets, stored);
  const all = { ...kept, ...input.credentials };
  for (const name of channelCredentials[input.channel]) {
    if (all[name] === undefined) {
      throw new Refusal('invalid_request', `${prefix}${name} is required for ${channelTitles[input.channel]}.`);
    }
  }
  return all;
}

/** The credentials in clear text: never logged. */
export function openedOf(secrets: SecretBox, { agentId, channel, credentials }: ChannelRow): ChannelSecrets {
  return Object.fromEntries(
    credentials
      .filter(({ name }) => channelCredentials[channel].includes(name))
      .map(({ name, sealed }) => [name, secrets.open(sealed, channelCredentialContext(agentId, channel, name))]),
  );
}

/** Asks the platform. Rejects with a `ChannelFailure` where the platform says no, or is not reached in time. */
export async function asked(
  { check, log }: Pick<ChannelsDeps, 'check' | 'log'>,
  channel: ChannelName,
  credentials: ChannelSecrets,
  signal: AbortSignal,
): Promise<Verified | null> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(verifyTimeoutMs)]);
  try {
    return await check.verify(channel, credentials, bound);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChannelFailure) throw error;
    if (!bound.aborted)
      log.warn({ channel, failed: String(error instanceof Error && error.name) }, 'credentials were not checked');
    throw new ChannelFailure({
      code: 'platform_unreachable',
      message: `${channelTitles[channel]} did not answer in time.`,
    });
  }
}

/** Does the same as `asked`; a failure becomes a refusal that names the field. */
export async function verified(
  deps: Pick<ChannelsDeps, 'check' | 'log'>,
  channel: ChannelName,
  credentials: ChannelSecrets,
  { prefix = '', signal }: PutOptions,
): Promise<Verified | null> {
  try {
    return await asked(deps, channel, credentials, signal);
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error;
    const { code, message } = error.reason;
    const names = channelCredentials[channel];
    const named = names.filter((name) => message.includes(name));
    const fields = (named.length > 0 ? named : names).map((name) => prefix + name).join(', ');
    const isDown = code === 'platform_unreachable' || code === 'rate_limited';
    const skip = isDown ? ' With ?verify=false it is put without being checked.' : '';
    throw new Refusal('invalid_request', `${fields} could not be verified: ${message}${skip}`);
  }
}

export function sealedOf(
  secrets: SecretBox,
  agentId: string,
  channel: ChannelName,
  credentials: ChannelSecrets,
): NewChannel['credentials'] {
  return Object.entries(credentials).map(([name, value]) => ({
    name,
    sealed: secrets.seal(value, channelCredentialContext(agentId, channel, name)),
    last4: lastFour(value),
  }));
}

/** The account key without asking the platform. It blocks nobody until a connection has shown who owns these credentials. */
export function unverifiedKey(channel: ChannelName, credentials: ChannelSecrets): string | null {
  const values = channelCredentials[channel].map((name) => credentials[name] ?? '');
  if (values.length === 0) return null;
  return unverifiedAccount(hash('sha256', values.at(-1)!, 'base64url'), accountOfToken(channel, credentials));
}
