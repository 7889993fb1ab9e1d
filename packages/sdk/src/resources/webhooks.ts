import type { Pages } from '../http/page.ts';
import { pathOf } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type {
  CreateWebhook,
  RotateWebhookSecret,
  UpdateWebhook,
  Webhook,
  WebhookDeleted,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookWithSecret,
} from '../types.ts';
import { verifyWebhook } from '../verify.ts';
import { Resource } from './resource.ts';
import type { QueryOf } from './resource.ts';

const path = (...more: readonly string[]): string => pathOf('webhooks', ...more);
const receiverMs = 90_000;

/** Servers of yours that are told what happens. */
export class Webhooks extends Resource {
  /** Checks the signature of a request that came to your server, and gives its event. */
  readonly verify: typeof verifyWebhook = verifyWebhook;

  /** The reply has the secret, which is shown this once. */
  create(body: CreateWebhook, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.postJson(path(), body, options);
  }

  list(options?: CallOptions): Pages<WebhookList> {
    return this.pagesOf(path(), options);
  }

  get(webhook: string, options?: CallOptions): Promise<Webhook> {
    return this.getJson(path(webhook), options);
  }

  update(webhook: string, body: UpdateWebhook, options?: CallOptions): Promise<Webhook> {
    return this.sendJson('PATCH', path(webhook), options, { body });
  }

  delete(webhook: string, options?: CallOptions): Promise<WebhookDeleted> {
    return this.sendJson('DELETE', path(webhook), options);
  }

  /** Makes another secret. For a day both sign. */
  rotate(webhook: string, body?: RotateWebhookSecret, options?: CallOptions): Promise<WebhookWithSecret> {
    return this.postJson(path(webhook, 'rotate'), body, options);
  }

  deliveries(
    webhook: string,
    query?: QueryOf<'listWebhookDeliveries'>,
    options?: CallOptions,
  ): Pages<WebhookDeliveryList> {
    return this.pagesOf(path(webhook, 'deliveries'), options, query);
  }

  /** Sends a test event, and tells what your server answered. */
  test(webhook: string, body?: Record<string, never>, options?: CallOptions): Promise<WebhookDelivery> {
    return this.postJson(path(webhook, 'test'), body, options, { slowMs: receiverMs });
  }

  redeliver(
    webhook: string,
    delivery: string,
    body?: Record<string, never>,
    options?: CallOptions,
  ): Promise<WebhookDelivery> {
    return this.postJson(path(webhook, 'deliveries', delivery, 'redeliver'), body, options, { slowMs: receiverMs });
  }
}
