import { agentIdPattern, makeAgentId } from '@lodge/domain';
import { randomInt } from 'node:crypto';
import type { CreateHook, Hook, HookMessage, HookSignatureInput } from '@lodge/contract';
import type { Fingerprints, HookInput } from '@lodge/engine';
import { hookSecretContext, noDelivery } from '@lodge/ports';
import type { HookMessage as MessageRow, HookPlace, HookRow } from '@lodge/ports';
import type { FastifyRequest } from 'fastify';
import type { HookArea } from '../../context.ts';
import type { ShowsSecrets } from '../../needs.ts';
import { checkAgentId } from '../../reply/agent-record.ts';
import { deliveryOf, deliveryRecord } from '../../reply/delivery-record.ts';

/** For routes of hooks. */
export interface HookNeeds extends ShowsSecrets {
  readonly hooks: HookArea;
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

export const hookRecord = (row: HookRow, fingerprints: Fingerprints): Hook => ({
  object: 'hook',
  id: row.id,
  agent_id: row.agentId,
  name: row.name,
  last4: row.last4,
  ...(row.template !== null && { template: row.template }),
  ...(row.conversation !== null && { conversation: row.conversation }),
  deliver: deliveryRecord(row.deliver),
  ...(row.signature !== null && {
    signature: {
      type: row.signature.kind,
      ...row.signature.own,
      secret: {
        set: true as const,
        last4: row.signature.last4,
        fingerprint: fingerprints.ofSealed(row.accountId, 'hook', row.signature.sealed, hookSecretContext(row.id)),
      },
    },
  }),
  created_at: row.createdAt.toISOString(),
});

export const messageRecord = (row: MessageRow): HookMessage => ({
  object: 'hook_message',
  id: row.id,
  hook_id: row.hookId,
  state: row.state,
  attempts: row.attempts,
  reason: row.reason,
  received_at: row.receivedAt.toISOString(),
  started_at: row.startedAt && row.startedAt.toISOString(),
  ended_at: row.endedAt && row.endedAt.toISOString(),
});
