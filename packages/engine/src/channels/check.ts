/** Checks a channel before it is put: whether its credentials are all there, and whether their platform takes them. */
import type { ChannelSecrets, SecretBox } from '@lodge/ports';
import type { ChannelRow, NewChannel } from '@lodge/store/channels';
import { merged, openedOf, sealedOf, unverifiedKey, verified } from './credentials.ts';
import type { ChannelsDeps } from './deps.ts';
import type { ChannelInput, CheckedChannel, PutOptions } from './input.ts';

/** Checks a channel. Asks the platform only about new credentials: a change of access needs no platform. */
export async function checked(
  deps: ChannelsDeps,
  input: ChannelInput,
  stored: ChannelRow | null,
  options: PutOptions,
): Promise<CheckedChannel> {
  const { channel, credentials } = input;
  const all = merged(deps.secrets, input, stored, options.prefix);
  if (Object.keys(credentials).length === 0) return { input };
  if (!options.verify) {
    const before: ChannelSecrets = stored === null ? {} : openedOf(deps.secrets, stored);
    const isSame = Object.entries(all).every(([name, value]) => before[name] === value);
    return isSame ? { input } : { input, accountKey: unverifiedKey(channel, all) };
  }
  const known = await verified(deps, channel, all, options);
  return { input, accountKey: known?.accountKey ?? unverifiedKey(channel, all) };
}

/** Makes the row of a checked channel. */
export function newChannel(
  secrets: SecretBox,
  agentId: string,
  { input: { channel, enabled, access, credentials }, accountKey }: CheckedChannel,
): NewChannel {
  const sealed = sealedOf(secrets, agentId, channel, credentials);
  return { channel, enabled, access, credentials: sealed, ...(accountKey !== undefined && { accountKey }) };
}
