import { SignatureError } from './errors.ts';
import type { LodgeEvent } from './types.ts';

export interface VerifyOptions {
  /** How old a request may be, and how far in the future; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
}
/** Headers of a request as any server has them. */
export type GivenHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const maxSignatures = 10;

/**
 * Checks a request to a webhook by the rules of Standard Webhooks, and gives its event. `payload` is the body's text or bytes
 * as they came. Throws a `SignatureError`.
 */
export async function verifyWebhook(
  payload: string | Uint8Array,
  headers: GivenHeaders,
  secret: string,
  { toleranceSeconds = 300 }: VerifyOptions = {},
): Promise<LodgeEvent> {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (!id || !time || !signatures) throw new SignatureError('The request has no signature.');
  const ageSeconds = Date.now() / 1000 - Number(time);
  if (!/^\d{1,12}$/.test(time) || Math.abs(ageSeconds) > toleranceSeconds) {
    throw new SignatureError('The request is too old, or from the future.');
  }
  const body = typeof payload === 'string' ? payload : new TextDecoder().decode(payload);
  const signed = new TextEncoder().encode(`${id}.${time}.${body}`);
  const key = await keyOf(secret);
  for (const each of signatures.split(' ', maxSignatures)) {
    const [version, signature = ''] = each.split(',', 2);
    const bytes = version === 'v1' ? fromBase64(signature) : null;
    if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed)))
      return JSON.parse(body) as LodgeEvent;
  }
  throw new SignatureError('The signature is wrong.');
}

function keyOf(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (bytes === null || bytes.length === 0) throw new SignatureError('The secret is not one of a webhook.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function headerOf(headers: GivenHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const [, value] = Object.entries(headers).find(([each]) => each.toLowerCase() === name) ?? [];
  return typeof value === 'object' ? value[0] : value;
}
