import {
  CreateWebhook,
  RotateWebhookSecret,
  UpdateWebhook,
  Webhook,
  WebhookDeleted,
  WebhookList,
  WebhookParams,
  WebhookWithSecret,
} from '@lodge/contract';
import { Refusal, namesSomething } from '@lodge/domain';
import type { Webhooks } from '@lodge/engine';
import type { App } from '../../app-types.ts';
import { actorNote } from '../../identity/change-note.ts';
import { refuseLostSecret } from '../../pipeline/idempotency/secret-replies.ts';
import { webhookRecord, withSecret } from './record.ts';

export interface WebhookNeeds {
  readonly webhooks: Webhooks;
}

export const tags = ['Webhooks'];
const readConfig = { scopes: ['agents:read'], errors: ['webhook_not_found'] } as const;
const changeConfig = { scopes: ['agents:write'], errors: ['webhook_not_found'] } as const;
const overlapSeconds = 86_400;

/** `/v1/webhooks` and what is below one of them, its deliveries aside. */
export function webhookRoutes(app: App, needs: WebhookNeeds): void {
  createRoute(app, needs);
  readRoutes(app, needs);
  changeRoutes(app, needs);
  rotateRoute(app, needs);
}

function createRoute(app: App, { webhooks }: WebhookNeeds): void {
  app.route({
    method: 'POST',
    url: '/v1/webhooks',
    schema: {
      operationId: 'createWebhook',
      tags,
      summary: 'Have events sent to a server of yours',
      description:
        'Events from now on are sent as they happen: a POST of the event as `GET /v1/events` shows it, signed as Standard Webhooks has it. The secret is in this reply alone, which no Idempotency-Key keeps.',
      body: CreateWebhook,
      response: { 201: { ...WebhookWithSecret, 'x-response-description': 'The webhook, with its secret.' } },
    },
    config: { scopes: ['agents:write'], errors: ['quota_exceeded'], secretReply: true },
    handler: async (request, reply) => {
      refuseLostSecret(request, 'Remove the webhook, and make another.');
      const { url, events, description = '', enabled = true } = request.body;
      checkEvents(events);
      const input = { url, patterns: events, description, enabled };
      const made = await webhooks.create(request.principal.accountId, input, actorNote(request));
      return reply.code(201).header('location', `/v1/webhooks/${made.row.id}`).send(withSecret(made));
    },
  });
}

function readRoutes(app: App, { webhooks }: WebhookNeeds): void {
  app.route({
    method: 'GET',
    url: '/v1/webhooks',
    schema: {
      operationId: 'listWebhooks',
      tags,
      summary: 'List the webhooks of the account',
      response: { 200: { ...WebhookList, 'x-response-description': 'All of them, oldest first.' } },
    },
    config: { scopes: ['agents:read'], errors: [] },
    handler: async (request) => {
      const rows = await webhooks.list(request.principal.accountId);
      return { object: 'list' as const, data: rows.map(webhookRecord), has_more: false as const, next_cursor: null };
    },
  });
  app.route({
    method: 'GET',
    url: '/v1/webhooks/:webhook',
    schema: {
      operationId: 'getWebhook',
      tags,
      summary: 'Read a webhook',
      params: WebhookParams,
      response: { 200: { ...Webhook, 'x-response-description': 'The webhook.' } },
    },
    config: readConfig,
    handler: async (request) => webhookRecord(await webhooks.get(request.principal.accountId, request.params.webhook)),
  });
}

function changeRoutes(app: App, { webhooks }: WebhookNeeds): void {
  app.route({
    method: 'PATCH',
    url: '/v1/webhooks/:webhook',
    schema: {
      operationId: 'updateWebhook',
      tags,
      summary: 'Change a webhook',
      description:
        'Fields that are left out stay as they are. A webhook that is enabled again is sent events from then on, and what was pending.',
      params: WebhookParams,
      body: UpdateWebhook,
      response: { 200: { ...Webhook, 'x-response-description': 'The webhook as it is now.' } },
    },
    config: changeConfig,
    handler: async (request) => {
      const { events, ...rest } = request.body;
      if (events) checkEvents(events);
      const { accountId } = request.principal;
      const change = { ...rest, ...(events && { patterns: events }) };
      return webhookRecord(await webhooks.change(accountId, request.params.webhook, change, actorNote(request)));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/v1/webhooks/:webhook',
    schema: {
      operationId: 'deleteWebhook',
      tags,
      summary: 'Remove a webhook',
      description: 'With its deliveries; those that wait are not sent any more.',
      params: WebhookParams,
      response: { 200: { ...WebhookDeleted, 'x-response-description': 'It is gone.' } },
    },
    config: changeConfig,
    handler: async (request) => {
      const { webhook } = request.params;
      await webhooks.remove(request.principal.accountId, webhook, actorNote(request));
      return { object: 'webhook.deleted' as const, id: webhook, deleted: true as const };
    },
  });
}

function rotateRoute(app: App, { webhooks }: WebhookNeeds): void {
  app.route({
    method: 'POST',
    url: '/v1/webhooks/:webhook/rotate',
    schema: {
      operationId: 'rotateWebhookSecret',
      tags,
      summary: 'Give a webhook a new secret',
      description:
        'For the time of the overlap each event is signed with both, so that the receiver can change over at leisure. No Idempotency-Key keeps the reply: it holds a secret.',
      params: WebhookParams,
      body: RotateWebhookSecret,
      response: { 200: { ...WebhookWithSecret, 'x-response-description': 'The webhook, with its new secret.' } },
    },
    config: { ...changeConfig, secretReply: true },
    handler: async (request) => {
      refuseLostSecret(request, 'Rotate again.');
      const seconds = request.body?.overlap_seconds ?? overlapSeconds;
      const { accountId } = request.principal;
      return withSecret(await webhooks.rotate(accountId, request.params.webhook, seconds * 1000, actorNote(request)));
    },
  });
}

function checkEvents(events: readonly string[]): void {
  for (const [index, pattern] of events.entries()) {
    if (!namesSomething(pattern)) {
      throw new Refusal(
        'invalid_request',
        `events[${index}] is no type of event; GET /v1/events tells which there are.`,
      );
    }
  }
}
