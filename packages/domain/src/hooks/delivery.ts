/** What names a delivery, as its sender does: who sends it again gives the same name. */
import { asObject } from '../json.ts';
import type { HookHeaders } from './hook.ts';
import type { SignatureKind } from './signature.ts';

interface NamedDelivery {
  /** The header that names it, or shows who sends it. */
  readonly header: string;
  /** The field of the body that names it, in place of the header's value. */
  readonly field?: string;
}

const named: Readonly<Record<Exclude<SignatureKind, 'hmac'>, NamedDelivery>> = {
  github: { header: 'x-github-delivery' },
  standard: { header: 'webhook-id' },
  stripe: { header: 'stripe-signature', field: 'id' },
};

const idPattern = /^[\x21-\x7e]{1,200}$/;

export type Delivery =
  | { readonly id: string | null }
  /** Its name is none: the part of the request that is wrong. */
  | { readonly wrong: string };

/** With whom the name is from, as names of two senders may be the same. Null: the sender gives none. */
export function hookDeliveryOf(kind: SignatureKind | null, headers: HookHeaders, body: unknown): Delivery {
  const sender = kind === null || kind === 'hmac' ? senderIn(headers) : kind;
  if (sender === null) return { id: null };
  const { header, field } = named[sender];
  const name = field === undefined ? headers[header] : asObject(body)?.[field];
  if (name === undefined) return { id: null };
  if (typeof name !== 'string' || !idPattern.test(name)) return { wrong: field ?? header };
  return { id: `${sender}:${name}` };
}

type Sender = keyof typeof named;

const senderIn = (headers: HookHeaders): Sender | null =>
  (Object.keys(named) as Sender[]).find((sender) => headers[named[sender].header] !== undefined) ?? null;
