/**
 * Whether the sender of a request has the secret. The signature is over the body's bytes as they came, compared in constant
 * time.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { base64KeyOf, signedParts } from '@lodge/domain';
import type { HookHeaders, SignatureForm } from '@lodge/domain';

export interface SignedRequest {
  readonly headers: HookHeaders;
  readonly body: Uint8Array;
}

export function isSignedBy(secret: string, form: SignatureForm, { headers, body }: SignedRequest, now: Date): boolean {
  const parts = signedParts(form, headers, now);
  const key = form.key === 'text' ? secret : Buffer.from(base64KeyOf(secret) ?? '', 'base64');
  if (parts === null || key.length === 0) return false;
  const right = createHmac('sha256', key).update(parts.before).update(body).digest();
  let isRight = false;
  for (const signature of parts.signatures) {
    const given = Buffer.from(signature, form.encoding);
    if (given.length === right.length && timingSafeEqual(given, right)) isRight = true;
  }
  return isRight;
}
