/**
 * The signature schemes of senders, as data. Each signs the bytes of the body, with or without facts before them, by
 * HMAC-SHA256.
 *
 * Sources: docs.github.com "Validating webhook deliveries"; docs.stripe.com/webhooks "Verify webhook signatures manually";
 * the Standard Webhooks specification.
 */
import type { HookHeaders } from './hook.ts';

export const signatureKinds = ['github', 'stripe', 'standard', 'hmac'] as const;
export type SignatureKind = (typeof signatureKinds)[number];

export const signatureEncodings = ['hex', 'base64'] as const;
export type SignatureEncoding = (typeof signatureEncodings)[number];

export interface SignatureForm {
  /** The header with the signature, in lower case. */
  readonly header: string;
  /** The separator of the header's values; null when it has one value. */
  readonly separator: string | null;
  /** The beginning of a value that is a signature. */
  readonly prefix: string;
  readonly encoding: SignatureEncoding;
  /** With `base64` the secret is base64 of the key, behind `whsec_`. */
  readonly key: 'text' | 'base64';
  /** The header whose value is signed first, or null. */
  readonly idHeader: string | null;
  /** The place of the signature's time, in seconds since 1970; null when it has none. */
  readonly time: { readonly header: string } | { readonly prefix: string } | null;
}

/** The owner's description of a sender whose scheme is not a known one. */
export interface OwnSignature {
  readonly header: string;
  readonly encoding: SignatureEncoding;
  readonly prefix: string;
}

const known: Readonly<Record<Exclude<SignatureKind, 'hmac'>, SignatureForm>> = {
  github: {
    header: 'x-hub-signature-256',
    separator: null,
    prefix: 'sha256=',
    encoding: 'hex',
    key: 'text',
    idHeader: null,
    time: null,
  },
  stripe: {
    header: 'stripe-signature',
    separator: ',',
    prefix: 'v1=',
    encoding: 'hex',
    key: 'text',
    idHeader: null,
    time: { prefix: 't=' },
  },
  standard: {
    header: 'webhook-signature',
    separator: ' ',
    prefix: 'v1,',
    encoding: 'base64',
    key: 'base64',
    idHeader: 'webhook-id',
    time: { header: 'webhook-timestamp' },
  },
};

/** Returns the scheme of a kind; `own` describes a sender of kind `hmac`. */
export const signatureFormOf = (kind: SignatureKind, own: OwnSignature | null): SignatureForm =>
  kind === 'hmac'
    ? { ...own!, header: own!.header.toLowerCase(), separator: null, key: 'text', idHeader: null, time: null }
    : known[kind];

/** Largest difference between the time of a signature and now, as in Stripe's and Standard Webhooks' libraries. */
const toleranceSeconds = 300;
const maxHeaderChars = 4_096;
/** Most signatures of one request. A sender that changes its secret signs with the old and the new one. */
const maxSignatures = 16;

export interface SignedParts {
  /** The signed text before the body. */
  readonly before: string;
  /** Encoded signatures, any one of which may be right. */
  readonly signatures: readonly string[];
}

/** Returns the parts of a request to check. Null when the signature cannot be right, whatever the secret is. */
export function signedParts(form: SignatureForm, headers: HookHeaders, now: Date): SignedParts | null {
  const header = headers[form.header];
  if (header === undefined || header.length > maxHeaderChars) return null;
  const values = form.separator === null ? [header] : header.split(form.separator).map((value) => value.trim());
  const signatures = values.flatMap((value) => behind(form.prefix, value)).slice(0, maxSignatures);
  const signed: string[] = [];
  if (form.idHeader !== null) {
    const id = headers[form.idHeader];
    if (id === undefined || id === '') return null;
    signed.push(id);
  }
  if (form.time !== null) {
    const { time } = form;
    const at = 'header' in time ? headers[time.header] : values.flatMap((value) => behind(time.prefix, value))[0];
    if (at === undefined || !isNear(at, now)) return null;
    signed.push(at);
  }
  return signatures.length === 0 ? null : { before: signed.map((part) => `${part}.`).join(''), signatures };
}

const behind = (prefix: string, value: string): string[] =>
  value.startsWith(prefix) ? [value.slice(prefix.length)] : [];

const isNear = (seconds: string, now: Date): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) - now.getTime() / 1000) <= toleranceSeconds;

const keyPrefix = 'whsec_';
/** Standard Webhooks allows 24 to 64 characters; some senders' keys are shorter. */
const minKeyChars = 22;
const keyPattern = /^[A-Za-z0-9+/]{22,128}={0,2}$/;

/** Returns base64 of the key in a secret of Standard Webhooks, or null when it has none. */
export function base64KeyOf(secret: string): string | null {
  const key = secret.startsWith(keyPrefix) ? secret.slice(keyPrefix.length) : secret;
  return key.length >= minKeyChars && keyPattern.test(key) ? key : null;
}
