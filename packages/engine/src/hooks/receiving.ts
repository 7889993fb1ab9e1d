/** Requests of third parties to hooks. */
import {
  JsonBoundsError,
  Refusal,
  boundedJson,
  hookBodyBounds,
  hookDeliveryOf,
  hookEventOf,
  hookTextOf,
  hookWaitBounds,
  isHookPing,
  signatureFormOf,
} from '@lodge/domain';
import type { HookHeaders, HookWaitBounds } from '@lodge/domain';
import { hookSecretContext } from '@lodge/ports';
import type { SecretBox, Tokens } from '@lodge/ports';
import type { Database, Transaction } from '@lodge/store/database';
import { appendEvent } from '@lodge/store/events';
import { hookByToken, insertHookMessage, lockHook, messageOfDelivery, waitingMessages } from '@lodge/store/hooks';
import type { HookRow } from '@lodge/store/hooks';
import { isSignedBy } from './signature.ts';

export interface ReceivingDeps {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly tokens: Pick<Tokens, 'isWellFormed' | 'hash'>;
  /** `hookWaitBounds` if it is not given. */
  readonly waitBounds?: HookWaitBounds;
}

export interface HookRequest {
  readonly headers: HookHeaders;
  readonly body: Uint8Array;
}

/** The outcome of a request; without an id it only asked whether the hook is there. */
export interface TakenRequest {
  readonly id: string | null;
  /** Whether the delivery came before. */
  readonly isRepeated: boolean;
}

export const createReceiving = ({ database, tokens, secrets, waitBounds = hookWaitBounds }: ReceivingDeps) => ({
  /** Whether a token could be one of Lodge's; other tokens cost no look-up. */
  isToken: (token: string): boolean => tokens.isWellFormed(token),
  /** Returns undefined if the token opens nothing. */
  opened: (token: string): Promise<HookRow | undefined> =>
    database.repeatable((db) => hookByToken(db, tokens.hash(token))),
  /** Refuses a request with `invalid_signature` if it is not signed as the hook wants. */
  check(hook: HookRow, request: HookRequest): void {
    const { signature: kind, secretSealed, signatureHeader: header, signatureEncoding, signaturePrefix } = hook;
    if (kind === null || secretSealed === null) return;
    const own = header && { header, encoding: signatureEncoding ?? 'hex', prefix: signaturePrefix ?? '' };
    const form = signatureFormOf(kind, own || null);
    if (isSignedBy(secrets.open(secretSealed, hookSecretContext(hook.id)), form, request, new Date())) return;
    throw new Refusal('invalid_signature', `The signature in ${form.header} is missing, old or wrong.`);
  },
  /**
   * Resolves once the request is stored. Refuses with `invalid_json`, `invalid_request`, `request_too_large`, or
   * `rate_limit_exceeded`.
   */
  async receive(hook: HookRow, { headers, body }: HookRequest): Promise<TakenRequest> {
    if (isHookPing(headers)) return { id: null, isRepeated: false };
    const data = jsonOf(body);
    const delivery = hookDeliveryOf(hook.signature, headers, data);
    if ('wrong' in delivery) {
      throw new Refusal('invalid_request', `${delivery.wrong} must be 1 to 200 visible ASCII characters.`);
    }
    const { text, isCut } = hookTextOf(hook.template, data);
    const message = { text, isCut, deliveryId: delivery.id, event: hookEventOf(headers) };
    return database.transaction((trx) => take(trx, hook.id, message, waitBounds));
  },
});

interface Arriving {
  readonly deliveryId: string | null;
  readonly event: string | null;
  readonly text: string;
  readonly isCut: boolean;
}

/** The lock serialises the messages of a hook, so a delivery that comes twice is known. */
async function take(trx: Transaction, id: string, message: Arriving, bounds: HookWaitBounds): Promise<TakenRequest> {
  const hook = await lockHook(trx, id);
  if (hook === undefined) throw new Refusal('route_not_found', 'Nothing is at this path.');
  const { agentId, accountId, name } = hook;
  const { deliveryId } = message;
  const known = deliveryId === null ? null : await messageOfDelivery(trx, id, deliveryId);
  if (known !== null) return { id: known, isRepeated: true };
  await checkRoom(trx, hook, Buffer.byteLength(message.text), bounds);
  const made = await insertHookMessage(trx, { ...message, hookId: id, agentId, accountId });
  const data = { hook_id: id, name, message_id: made };
  await appendEvent(trx, { type: 'hook.received', data, accountId, agentId, by: null });
  return { id: made, isRepeated: false };
}

async function checkRoom(
  trx: Transaction,
  hook: HookRow,
  bytes: number,
  { ofHook, ofAccount, bytesOfAccount }: HookWaitBounds,
): Promise<void> {
  const waiting = await waitingMessages(trx, hook, ofAccount);
  if (waiting.ofHook >= ofHook) throw full(`${ofHook} messages of this hook wait for the agent.`);
  if (waiting.ofAccount >= ofAccount || waiting.bytesOfAccount + bytes > bytesOfAccount) {
    throw full("As many messages, or as much text, as may wait for all agents of the hook's account wait for them.");
  }
}

const full = (words: string): Refusal =>
  new Refusal('rate_limit_exceeded', `${words} Try again later.`, { retryAfterSeconds: 60 });

function jsonOf(body: Uint8Array): unknown {
  try {
    return boundedJson(body, hookBodyBounds);
  } catch (error) {
    if (error instanceof JsonBoundsError) {
      const code = error.bound === 'bytes' ? 'request_too_large' : 'invalid_json';
      const { bytes, depth, elements } = hookBodyBounds;
      throw new Refusal(code, `The body may have ${bytes / 1024} KiB, ${depth} levels and ${elements} values.`);
    }
    throw new Refusal('invalid_json', 'The body is not JSON. GitHub sends it with the content type application/json.');
  }
}
