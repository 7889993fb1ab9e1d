/** The name of a delivery by its sender, who repeats the name when sending it again. */
import { asObject } from '../basics/bounded-json.ts';
import type { HookHeaders } from './hook.ts';
import type { SignatureKind } from './signature.ts';

interface NamedDelivery {
  /** The header that names the delivery, or identifies the sender. */
  readonly header: string;
  /** The field of the body that names the delivery instead of the header's value. */
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
  /** The name is invalid; `wrong` is the faulty part of the request. */
  | { readonly wrong: string };

/** Returns the name together with its sender, because names of two senders may be equal. Null when the sender gives none. */
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
