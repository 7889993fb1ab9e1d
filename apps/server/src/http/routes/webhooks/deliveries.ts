import {
  DeliveryParams,
  ListDeliveriesQuery,
  NoBody,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookParams,
} from '@lodge/contract';
import { Refusal } from '@lodge/domain';
import type { App } from '../../app-types.ts';
import type { Cursors } from '../../reply/cursors.ts';
import { pageReply } from '../../reply/page.ts';
import { clientGone } from '../../pipeline/client-gone.ts';
import { deliveryRecord } from './record.ts';
import { tags } from './webhooks.ts';
import type { WebhookNeeds } from './webhooks.ts';

interface Needs extends WebhookNeeds {
  readonly cursors: Cursors;
}

/** A receiver has ten seconds for its answer. */
const testWaitMs = 12_000;

/** `/v1/webhooks/:webhook/deliveries`, `…/test` and what is below a delivery. */
export function deliveryRoutes(app: App, needs: Needs): void {
  listRoute(app, needs);
  testRoute(app, needs);
  redeliverRoute(app, needs);
}

function listRoute(app: App, { webhooks, cursors }: Needs): void {
  app.route({
    method: 'GET',
    url: '/v1/webhooks/:webhook/deliveries',
    schema: {
      operationId: 'listWebhookDeliveries',
      tags,
      summary: 'List the deliveries of a webhook',
      description: 'Newest first. Ended ones are kept for a week, at most 10,000 of a webhook.',
      params: WebhookParams,
      querystring: ListDeliveriesQuery,
      response: { 200: { ...WebhookDeliveryList, 'x-response-description': 'A page of deliveries.' } },
    },
    config: { scopes: ['agents:read'], errors: ['webhook_not_found'] },
    handler: async (request) => {
      const { webhook } = request.params;
      const { limit = 20, cursor, state } = request.query;
      const { accountId } = request.principal;
      const kind = `deliveries:${webhook}`;
      const before = cursor === undefined ? undefined : cursors.open(kind, accountId, cursor);
      const rows = await webhooks.deliveries(accountId, webhook, {
        limit: limit + 1,
        ...(before !== undefined && { before }),
        ...(state !== undefined && { state }),
      });
      return pageReply(rows, {
        limit,
        record: deliveryRecord,
        cursorOf: (last) => cursors.seal(kind, accountId, last.id),
      });
    },
  });
}

function testRoute(app: App, { webhooks }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/webhooks/:webhook/test',
    schema: {
      operationId: 'testWebhook',
      tags,
      summary: 'Send a test event',
      description:
        'Of type `webhook.test`, whatever events the webhook wants, at once and once. The reply tells how it went; `pending` after 12 seconds.',
      params: WebhookParams,
      body: NoBody,
      response: { 200: { ...WebhookDelivery, 'x-response-description': 'The delivery of the test.' } },
    },
    config: { scopes: ['agents:write'], errors: ['webhook_not_found', 'webhook_disabled'] },
    handler: async (request, reply) => {
      const { accountId } = request.principal;
      const gone = clientGone(reply);
      return deliveryRecord(await webhooks.test(accountId, request.params.webhook, testWaitMs, gone));
    },
  });
}

function redeliverRoute(app: App, { webhooks }: Needs): void {
  app.route({
    method: 'POST',
    url: '/v1/webhooks/:webhook/deliveries/:delivery/redeliver',
    schema: {
      operationId: 'redeliverWebhookDelivery',
      tags,
      summary: 'Send a delivery again',
      description: 'Under the same `webhook-id`, with a fresh count of attempts.',
      params: DeliveryParams,
      body: NoBody,
      response: { 200: { ...WebhookDelivery, 'x-response-description': 'The delivery, which waits again.' } },
    },
    config: {
      scopes: ['agents:write'],
      errors: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled'],
    },
    handler: async (request) => {
      const { webhook, delivery } = request.params;
      const { accountId } = request.principal;
      await webhooks.get(accountId, webhook);
      return deliveryRecord(await webhooks.redeliver(accountId, webhook, deliveryId(delivery)));
    },
  });
}

/** A text that is no number is a delivery that does not exist. */
function deliveryId(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new Refusal('delivery_not_found', 'The webhook has no such delivery.');
  return text;
}
