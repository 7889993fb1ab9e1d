import { createHash } from 'node:crypto';
import { asObject } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { OutboundPart, SendTarget } from '@lodge/ports';
import { readUpTo, upTo } from '../shared/bounded.ts';
import { plainName } from '../shared/plain.ts';
import { componentsOf } from './choices.ts';
import { isSnowflake } from './places.ts';
import { channelOf } from './reader.ts';
import { sendFailureOf } from './reasons.ts';
import type { DiscordApi, DiscordRest } from './rest.ts';

/** Without boosts of the server. */
export const maxFileBytes = 10 * 1024 * 1024;

/** Rejects with a `SendFailure`. */
export async function sendPart(
  restOf: () => DiscordRest,
  to: SendTarget,
  part: OutboundPart,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly id: string }> {
  const channelId = channelOf(to.conversationId);
  if (channelId === null) throw new SendFailure('refused', 'The Discord channel is not known.');
  const files = part.kind === 'file' ? [await fileOf(part)] : undefined;
  const body = {
    ...(part.kind === 'text' && { content: part.text }),
    ...(part.kind === 'text' && part.choices && { components: componentsOf(part.choices) }),
    ...answering(to),
    nonce: nonceOf(key),
    enforce_nonce: true,
    // A person who talks an agent into it must not notify everybody.
    allowed_mentions: { parse: [] },
  };
  try {
    const sent = await restOf().call('POST', `/channels/${channelId}/messages`, signal, {
      body,
      ...(files && { files }),
    });
    const { id } = (sent ?? {}) as { readonly id?: unknown };
    if (!isSnowflake(id)) throw new SendFailure('unknown', 'Discord did not name the message.');
    return { id };
  } catch (error) {
    throw sendFailureOf(error);
  }
}

/** Among several people an answer names what it answers. */
function answering({ conversationKind, replyTo, index }: SendTarget): object {
  const id = asObject(replyTo)?.['id'];
  if (conversationKind === 'direct' || index > 0 || !isSnowflake(id)) return {};
  return { message_reference: { message_id: id, fail_if_not_exists: false } };
}

/** Discord answers with the earlier message when one of the last minutes has the same; at most 25 characters. */
const nonceOf = (key: string): string => createHash('sha256').update(key).digest('base64url').slice(0, 24);

async function fileOf(
  part: Extract<OutboundPart, { kind: 'file' }>,
): Promise<{ name: string; data: Buffer; contentType: string }> {
  if (part.bytes > maxFileBytes) throw new SendFailure('refused', 'The file is larger than Discord takes.');
  try {
    const data = await readUpTo(part.open(), maxFileBytes);
    return { name: plainName(part.name, 'file'), data, contentType: part.mediaType };
  } catch {
    throw new SendFailure('retry', 'The file could not be read.');
  }
}

/** The bytes of a file that came in, from where its message says that it lies now. No token goes there. */
export async function openFile(
  rest: DiscordRest,
  api: DiscordApi,
  ref: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const [channelId, messageId, id, more] = ref.length <= 70 ? ref.split('/') : [];
  if (!isSnowflake(channelId) || !isSnowflake(messageId) || !isSnowflake(id) || more !== undefined) {
    throw new Error('the file is not one of Discord');
  }
  const message = await rest.call('GET', `/channels/${channelId}/messages/${messageId}`, signal);
  const { attachments } = (message ?? {}) as { readonly attachments?: unknown };
  const found = (Array.isArray(attachments) ? (attachments as readonly unknown[]) : []).slice(0, 20).find((each) => {
    return (each as { id?: unknown } | null)?.id === id;
  }) as { readonly url?: unknown } | undefined;
  const url = typeof found?.url === 'string' ? found.url : '';
  if (!isFileUrl(url, api)) throw new Error('the file does not lie at Discord');
  const response = await fetch(url, { redirect: 'error', signal });
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    throw new Error(`Discord answered ${response.status}`);
  }
  return upTo(response.body, maxBytes);
}

function isFileUrl(url: string, { fileHosts, apiUrl }: DiscordApi): boolean {
  if (url.length > 2_000 || !URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  const api = new URL(apiUrl);
  return (protocol === 'https:' && fileHosts.includes(host)) || (host === api.host && protocol === api.protocol);
}
