/**
 * `POST /v1/hooks/:token`: what third parties send. The token is looked up before a byte of the body is read, in its turn
 * among those that strangers make up. A wrong signature counts against the sender's address and not against the hook, whose
 * limit is for its real sender.
 */
import { HookReceipt, HookTokenParams } from '@lodge/contract';
import { Refusal, hookBodyBounds } from '@lodge/domain';
import type { HookRequest, HookRow } from '@lodge/engine';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import type { Strangers } from '../../identity/strangers.ts';
import { routeRefusal } from '../../pipeline/known-paths.ts';
import type { Limits } from '../../pipeline/limits/limits.ts';
import { tags } from './shared.ts';
import type { HookNeeds } from './shared.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The hook of the request's token; set only on requests of third parties. */
    hook: HookRow | undefined;
  }
}

interface Needs extends HookNeeds {
  readonly limiter: Limits | null;
  readonly strangers: Strangers;
}

const schema = {
  operationId: 'sendToHook',
  tags,
  summary: 'Send a message to an agent by its hook',
  description:
    'For a third party: no key is needed, as the token is one. The body is JSON of at most 256 KiB, of any content type; query parameters are ignored. The reply comes once the message is kept; a delivery that is sent again (`X-GitHub-Delivery`, the id of a Stripe event, `webhook-id`) is the same message. A hook takes 60 requests a minute. At most 1,000 of its messages wait, and 5,000 of all hooks of its account, with 64 MiB of text.',
  params: HookTokenParams,
  response: { 202: { ...HookReceipt, 'x-response-description': 'It is kept, and the agent will get it.' } },
};
const config = {
  public: true,
  ownToken: true,
  bytes: true,
  errors: ['invalid_json', 'invalid_request', 'invalid_signature', 'request_too_large', 'route_not_found'],
} as const;

/** Registers in a separate scope, in which a body is the received bytes: a signature covers those. */
export function receiveRoute(app: App, needs: Needs): void {
  app.register(async (scope: App) => {
    scope.decorateRequest('hook');
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.route({
      method: 'POST',
      url: '/v1/hooks/:token',
      bodyLimit: hookBodyBounds.bytes,
      schema,
      config,
      onRequest: (request, reply) => open(needs, request, reply),
      errorHandler: (error) => {
        throw (error as { readonly code?: unknown }).code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? tooLarge() : error;
      },
      handler: (request, reply) => receive(needs, request, reply),
    });
  });
}

const tooLarge = (): Refusal =>
  new Refusal('request_too_large', `The body may have at most ${hookBodyBounds.bytes / 1024} KiB.`);

async function open(needs: Needs, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { hooks, limiter, strangers } = needs;
  const { token } = request.params as { readonly token: string };
  if (!hooks.isToken(token)) {
    await limiter?.byAddress(request, reply);
    throw routeRefusal(null);
  }
  const hook = await strangers.run(token, { address: request.ip, reply }, async () => {
    const opened = await hooks.opened(token);
    if (opened) return opened;
    await limiter?.byAddress(request, reply);
    throw routeRefusal(null);
  });
  // Requests of an address with too many wrong signatures are not read any more.
  if (hook.signature !== null && limiter?.isOver(request.ip)) throw limiter.refusal(request.ip, reply);
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  request.hook = hook;
  request.scope.fields.agent_id = hook.agentId;
}

async function receive({ hooks, limiter }: Needs, request: FastifyRequest, reply: FastifyReply) {
  const hook = request.hook!;
  const sent = requestOf(request);
  try {
    hooks.check(hook, sent);
  } catch (error) {
    await limiter?.byAddress(request, reply);
    throw error;
  }
  await limiter?.byHook(hook.id, reply);
  const { id, isRepeated } = await hooks.receive(hook, sent);
  return reply.code(202).send({ object: 'hook_receipt' as const, message_id: id, repeated: isRepeated });
}

/** Joins repeated headers into one text, as Node does. */
function requestOf({ headers, body }: FastifyRequest): HookRequest {
  const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]);
  return {
    headers: Object.fromEntries(texts) as HookRequest['headers'],
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  };
}
