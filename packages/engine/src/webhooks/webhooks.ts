/** The owners' use-cases for their webhooks. Each refuses with `webhook_not_found` where the account has no such one. */
import { Refusal, webhookTestType } from '@lodge/domain';
import type { ActorNote, DeliveryQuery, DeliveryRow, SecretBox, WebhookRow, WebhookStore } from '@lodge/ports';
import { webhookSecretContext } from '@lodge/ports';

export interface WebhookInput {
  readonly url: string;
  readonly description: string;
  readonly patterns: readonly string[];
  readonly enabled: boolean;
}

export interface WebhooksDeps {
  readonly store: WebhookStore;
  readonly secrets: SecretBox;
  readonly makeId: () => string;
  /** A fresh `whsec_…`. */
  readonly makeSecret: () => string;
  readonly maxPerAccount: number;
  /** Whether receivers may have addresses that are not public, and use http. */
  readonly privateAddresses: boolean;
}

/** A webhook with its secret, which is shown this once. */
export interface MadeWebhook {
  readonly row: WebhookRow;
  readonly secret: string;
}

export interface Webhooks {
  create(accountId: string, input: WebhookInput, note: ActorNote): Promise<MadeWebhook>;
  list(accountId: string): Promise<readonly WebhookRow[]>;
  get(accountId: string, id: string): Promise<WebhookRow>;
  change(accountId: string, id: string, input: Partial<WebhookInput>, note: ActorNote): Promise<WebhookRow>;
  /** Makes a new secret. The earlier one signs for `overlapMs` longer. */
  rotate(accountId: string, id: string, overlapMs: number, note: ActorNote): Promise<MadeWebhook>;
  remove(accountId: string, id: string, note: ActorNote): Promise<void>;
  deliveries(query: DeliveryQuery): Promise<readonly DeliveryRow[]>;
  delivery(accountId: string, id: string, delivery: bigint): Promise<DeliveryRow>;
  /** Sends one event that nothing has caused. Resolves with its end, or with its state after `waitMs`. */
  test(accountId: string, id: string, waitMs: number, signal: AbortSignal): Promise<DeliveryRow>;
  redeliver(accountId: string, id: string, delivery: bigint): Promise<DeliveryRow>;
}

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { store } = deps;
  return {
    async create(accountId, input, note) {
      checkUrl(deps, input.url);
      const [id, secret] = [deps.makeId(), deps.makeSecret()];
      const made = { id, ...input, ...sealed(deps, id, secret) };
      const row = await store.create(accountId, made, deps.maxPerAccount, note);
      if (row === null) {
        throw new Refusal('quota_exceeded', `An account has at most ${deps.maxPerAccount} webhooks.`, {
          retryAfterSeconds: 60,
        });
      }
      return { row, secret };
    },
    list: (accountId) => store.list(accountId),
    get: async (accountId, id) => there(await store.get(accountId, id)),
    async change(accountId, id, input, note) {
      if (input.url !== undefined) checkUrl(deps, input.url);
      return there(await store.change(accountId, id, input, note));
    },
    async rotate(accountId, id, overlapMs, note) {
      const secret = deps.makeSecret();
      const { sealedSecret, secretLast4 } = sealed(deps, id, secret);
      const change = { secret: { sealed: sealedSecret, last4: secretLast4, overlapMs } };
      return { row: there(await store.change(accountId, id, change, note)), secret };
    },
    async remove(accountId, id, note) {
      if (!(await store.remove(accountId, id, note))) throw notFound();
    },
    deliveries: async (query) => there(await store.deliveries(query)),
    delivery: async (accountId, id, delivery) => thereToo(await store.delivery(accountId, id, delivery)),
    async test(accountId, id, waitMs, signal) {
      const { enabled } = there(await store.get(accountId, id));
      if (!enabled) throw new Refusal('webhook_disabled', 'The webhook is disabled. Enable it first.');
      const at = new Date().toISOString();
      const data = { webhook_id: id };
      const body = { object: 'event', id: `test-${at}`, type: webhookTestType, created_at: at, agent_id: null, data };
      const made = there(await store.test(accountId, id, webhookTestType, JSON.stringify(body)));
      return awaitEnd(store, accountId, made, waitMs, signal);
    },
    async redeliver(accountId, id, delivery) {
      const { enabled } = there(await store.get(accountId, id));
      if (!enabled) throw new Refusal('webhook_disabled', 'The webhook is disabled. Enable it first.');
      return thereToo(await store.redeliver(accountId, id, delivery));
    },
  };
}

function sealed({ secrets }: WebhooksDeps, id: string, secret: string) {
  return { sealedSecret: secrets.seal(secret, webhookSecretContext(id)), secretLast4: secret.slice(-4) };
}

/** Refuses addresses that can never be used. Every attempt checks the address that it connects to. */
function checkUrl({ privateAddresses }: WebhooksDeps, text: string): void {
  const url = URL.parse(text);
  if (url === null) throw new Refusal('invalid_request', 'url must be a URL.');
  if (url.protocol !== 'https:' && !(privateAddresses && url.protocol === 'http:')) {
    throw new Refusal('invalid_request', 'url must begin with https://.');
  }
  if (url.username !== '' || url.password !== '') throw new Refusal('invalid_request', 'url must have no user in it.');
  if (url.hash !== '') throw new Refusal('invalid_request', 'url must have no fragment.');
}

/** Waits for the end of a delivery. The first look sees an end whose notification came before it. */
async function awaitEnd(
  store: WebhookStore,
  accountId: string,
  made: DeliveryRow,
  waitMs: number,
  signal: AbortSignal,
): Promise<DeliveryRow> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  let wake = (): void => undefined;
  const unsubscribe = store.onAttempt((account) => {
    if (account === null || account === accountId) wake();
  });
  bound.addEventListener('abort', () => wake());
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const row = await store.delivery(accountId, made.webhookId, made.id);
      if (row === null || row.attempts > 0 || bound.aborted) return row ?? made;
      await woken;
    }
  } finally {
    unsubscribe();
  }
}

const notFound = (): Refusal => new Refusal('webhook_not_found', 'The account has no such webhook.');

function there<Row>(row: Row | null): Row {
  if (row === null) throw notFound();
  return row;
}

function thereToo(row: DeliveryRow | null): DeliveryRow {
  if (row === null) throw new Refusal('delivery_not_found', 'The webhook has no such delivery.');
  return row;
}
