import { agentIdPattern, makeAgentId } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import { Hook, HookMessage } from '@lodge/contract';
import type { CreateHook, HookSignatureInput } from '@lodge/contract';
import type { Fingerprints, HookInput, Hooks, HookMessageRow, HookPlace, HookRow } from '@lodge/engine';
import { hookSecretContext, noDelivery } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import type { ShowsSecrets } from '../../needs.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { deliveryOf, deliveryRecord } from '../../reply/delivery-record.ts';
import { toWire } from '../../reply/to-wire.ts';

/** For routes of hooks. */
export interface HookNeeds extends ShowsSecrets {
  readonly hooks: Hooks;
}

export const tags = ['Hooks'];
export const errors = ['agent_not_found', 'hook_not_found'] as const;

interface OfAgent {
  readonly id: string;
  readonly hook: string;
}

/** The hook that the request's path names. */
export function placeOf({ params, principal }: FastifyRequest): HookPlace {
  const { id, hook } = params as OfAgent;
  checkAgentId(id);
  // No id of Lodge's is longer or has other characters: an empty one belongs to nobody.
  return { accountId: principal.accountId, agentId: id, hookId: agentIdPattern.test(hook) ? hook : '' };
}

export const newHookId = (): string => makeAgentId(randomInt);

export function inputOf(body: CreateHook): HookInput {
  const { name, template = null, conversation = null, deliver, signature } = body;
  return {
    name,
    template,
    conversation,
    deliver: deliver === undefined ? noDelivery : deliveryOf(deliver),
    signature: signature === undefined ? null : signatureOf(signature),
  };
}

function signatureOf({
  type: kind,
  secret,
  header,
  encoding = 'hex',
  prefix = '',
}: HookSignatureInput): HookInput['signature'] {
  // The contract asks for a header with this type.
  return { kind, secret, own: kind === 'hmac' ? { header: header!, encoding, prefix } : null };
}

export const hookRecord = (row: HookRow, fingerprints: Fingerprints): Hook =>
  toWire(Hook, { ...row, deliver: deliveryRecord(row), signature: signatureRecord(row, fingerprints) });

function signatureRecord(row: HookRow, fingerprints: Fingerprints): Hook['signature'] | null {
  const { id, accountId, signature: type, secretSealed, secretLast4, signatureHeader: header } = row;
  if (type === null || secretSealed === null) return null;
  const fingerprint = fingerprints.ofSealed(accountId, 'hook', secretSealed, hookSecretContext(id));
  return {
    type,
    ...(header !== null && {
      header,
      encoding: row.signatureEncoding ?? 'hex',
      prefix: row.signaturePrefix ?? '',
    }),
    secret: { set: true, last4: secretLast4 ?? '', fingerprint },
  };
}

export const messageRecord = (row: HookMessageRow): HookMessage =>
  toWire(HookMessage, { ...row, state: row.status ?? (row.isClaimed ? 'answering' : 'received') });
