/** The owners' use-cases for their webhooks. Each refuses with `webhook_not_found` where the account has no such one. */
import { Refusal, destinationFault, webhookTestType } from '@lodge/domain';
import type { Happening } from '@lodge/domain';
import { webhookSecretContext } from '@lodge/ports';
import type { ActorNote, SecretBox } from '@lodge/ports';
import { databaseTime, notify } from '@lodge/store/database';
import type { Database, Transaction } from '@lodge/store/database';
import { writeNote } from '@lodge/store/events';
import {
  countWebhooks,
  deleteWebhook,
  deliveriesOf,
  endWebhookLease,
  findDelivery,
  findWebhook,
  insertDelivery,
  insertWebhook,
  lockWebhook,
  repeatDelivery,
  skipEvents,
  updateWebhook,
  webhooksOf,
} from '@lodge/store/webhooks';
import type { DeliveryPage, DeliveryRow, WebhookRow } from '@lodge/store/webhooks';

export interface WebhookInput {
  readonly url: string;
  readonly description: string;
  readonly patterns: readonly string[];
  readonly enabled: boolean;
}

export interface WebhooksDeps {
  readonly database: Database;
  /** Calls back with an account's id when any process made attempts; null means that some may have been made. */
  readonly onAttempt: (listener: (accountId: string | null) => void) => () => void;
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

export type Webhooks = ReturnType<typeof createWebhooks>;

export const createWebhooks = (deps: WebhooksDeps) => ({
  ...createReads(deps),
  ...createChanges(deps),
  ...createSends(deps),
});

const createReads = ({ database }: WebhooksDeps) => ({
  /** Oldest first. */
  list: (accountId: string): Promise<readonly WebhookRow[]> => database.repeatable((db) => webhooksOf(db, accountId)),
  get: async (accountId: string, id: string): Promise<WebhookRow> =>
    there(await database.repeatable((db) => findWebhook(db, accountId, id))),
  /** Newest first. */
  deliveries: (accountId: string, id: string, page: DeliveryPage): Promise<readonly DeliveryRow[]> =>
    database.repeatable(async (db) => {
      there(await findWebhook(db, accountId, id));
      return deliveriesOf(db, id, page);
    }),
});

function createChanges(deps: WebhooksDeps) {
  const { database } = deps;
  return {
    /** Refuses with `invalid_request` and the field, or with `quota_exceeded`. */
    async create(accountId: string, input: WebhookInput, note: ActorNote): Promise<MadeWebhook> {
      checkUrl(deps, input.url);
      const [id, secret] = [deps.makeId(), deps.makeSecret()];
      const { url, description, patterns, enabled } = input;
      const values = { id, accountId, url, description, patterns: [...patterns], enabled, ...sealed(deps, id, secret) };
      const row = await database.transaction(async (trx) => {
        // The account is locked, so webhooks are counted correctly.
        if ((await countWebhooks(trx, accountId)) >= deps.maxPerAccount) {
          throw new Refusal('quota_exceeded', `An account has at most ${deps.maxPerAccount} webhooks.`, {
            retryAfterSeconds: 60,
          });
        }
        const made = await insertWebhook(trx, values);
        // A path may contain a token.
        const data = { url: new URL(url).origin };
        await tell(trx, made, { type: 'webhook.created', data }, note);
        return made;
      });
      return { row, secret };
    },
    /**
     * A webhook that is enabled again receives events from then on, and its pending deliveries. One that is disabled loses its
     * lease.
     */
    async change(accountId: string, id: string, input: Partial<WebhookInput>, note: ActorNote): Promise<WebhookRow> {
      const { url, description, patterns, enabled } = input;
      if (url !== undefined) checkUrl(deps, url);
      const fields = Object.keys(input).map((name) => (name === 'patterns' ? 'events' : name));
      return database.transaction(async (trx) => {
        const before = there(await lockWebhook(trx, accountId, id));
        if (enabled === true && !before.enabled) await skipEvents(trx, accountId, id);
        if (enabled === false) await endWebhookLease(trx, id);
        const row = await updateWebhook(trx, id, {
          ...(url !== undefined && { url }),
          ...(description !== undefined && { description }),
          ...(patterns !== undefined && { patterns: [...patterns] }),
          ...(enabled !== undefined && { enabled, disabledReason: null }),
          ...(enabled === true && { failingSince: null }),
        });
        await tell(trx, row, { type: 'webhook.updated', data: { fields } }, note);
        return row;
      });
    },
    /** Makes a new secret. The earlier one signs for `overlapMs` longer. */
    async rotate(accountId: string, id: string, overlapMs: number, note: ActorNote): Promise<MadeWebhook> {
      const secret = deps.makeSecret();
      const row = await database.transaction(async (trx) => {
        const { sealedSecret: sealedPrevious } = there(await lockWebhook(trx, accountId, id));
        const previousUntil = new Date((await databaseTime(trx)).getTime() + overlapMs);
        const changed = await updateWebhook(trx, id, { ...sealed(deps, id, secret), sealedPrevious, previousUntil });
        await tell(trx, changed, { type: 'webhook.updated', data: { fields: ['secret'] } }, note);
        return changed;
      });
      return { row, secret };
    },
    async remove(accountId: string, id: string, note: ActorNote): Promise<void> {
      await database.transaction(async (trx) => {
        if (!(await deleteWebhook(trx, accountId, id))) throw notFound();
        await tell(trx, { accountId, id }, { type: 'webhook.removed', data: {} }, note);
      });
    },
  };
}

function createSends(deps: WebhooksDeps) {
  const { database } = deps;
  return {
    /** Sends one event that nothing has caused. Resolves with its end, or with its state after `waitMs`. */
    async test(accountId: string, id: string, waitMs: number, signal: AbortSignal): Promise<DeliveryRow> {
      const at = new Date().toISOString();
      const data = { webhook_id: id };
      const body = { object: 'event', id: `test-${at}`, type: webhookTestType, created_at: at, agent_id: null, data };
      const made = await database.transaction(async (trx) => {
        await lockEnabled(trx, accountId, id);
        const delivery = await insertDelivery(trx, id, webhookTestType, JSON.stringify(body));
        await notify(trx, accountId, 'webhook_changed');
        return delivery;
      });
      return awaitEnd(deps, accountId, made, waitMs, signal);
    },
    /** Refuses with `delivery_not_found`. */
    redeliver: (accountId: string, id: string, delivery: string): Promise<DeliveryRow> =>
      database.transaction(async (trx) => {
        await lockEnabled(trx, accountId, id);
        const repeated = await repeatDelivery(trx, id, delivery);
        if (repeated === undefined) throw new Refusal('delivery_not_found', 'The webhook has no such delivery.');
        await notify(trx, accountId, 'webhook_changed');
        return repeated;
      }),
  };
}

/** Writes the event. Call it last in a transaction. */
async function tell(
  trx: Transaction,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  event: Happening,
  note: ActorNote,
): Promise<void> {
  await notify(trx, accountId, 'webhook_changed');
  await writeNote(trx, { accountId, agentId: null, target: { kind: 'webhook', id } }, event, note);
}

async function lockEnabled(trx: Transaction, accountId: string, id: string): Promise<void> {
  const { enabled } = there(await lockWebhook(trx, accountId, id));
  if (!enabled) throw new Refusal('webhook_disabled', 'The webhook is disabled. Enable it first.');
}

function sealed({ secrets }: WebhooksDeps, id: string, secret: string) {
  return { sealedSecret: secrets.seal(secret, webhookSecretContext(id)), secretLast4: secret.slice(-4) };
}

/** Refuses addresses that can never be used. Every attempt checks the address that it connects to. */
function checkUrl({ privateAddresses }: WebhooksDeps, text: string): void {
  const fault = destinationFault(text, privateAddresses);
  if (fault !== null) throw new Refusal('invalid_request', `url ${fault}.`);
  if (new URL(text).hash !== '') throw new Refusal('invalid_request', 'url must have no fragment.');
}

/** Waits for the end of a delivery. The first look sees an end whose notification came before it. */
async function awaitEnd(
  { database, onAttempt }: WebhooksDeps,
  accountId: string,
  made: DeliveryRow,
  waitMs: number,
  signal: AbortSignal,
): Promise<DeliveryRow> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
  let wake = (): void => undefined;
  const unsubscribe = onAttempt((account) => {
    if (account === null || account === accountId) wake();
  });
  bound.addEventListener('abort', () => wake());
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const row = await database.repeatable((db) => findDelivery(db, made.webhookId, made.id));
      if (row === undefined || row.attempts > 0 || bound.aborted) return row ?? made;
      await woken;
    }
  } finally {
    unsubscribe();
  }
}

const notFound = (): Refusal => new Refusal('webhook_not_found', 'The account has no such webhook.');

function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw notFound();
  return row;
}
