import fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { authenticate, checkScope } from './auth.ts';
import { createGatewayClient } from './chat/gateway.ts';
import type { App, HttpAppOptions, HttpContext } from './context.ts';
import { answerClientError, sendError } from './errors.ts';
import { mostBodyBytes, parseJsonBody } from './json-body.ts';
import { KnownPaths, allowOf, routeRefusal } from './known-paths.ts';
import { registerOpenApi } from './openapi.ts';
import { parseQuery } from './query.ts';
import { makeRequestId } from './request-id.ts';
import { createAgentRoute } from './routes/agents/create.ts';
import { deleteAgentRoute } from './routes/agents/delete.ts';
import { getAgentRoute } from './routes/agents/get.ts';
import { listAgentsRoute } from './routes/agents/list.ts';
import { chatRoutes } from './routes/chat/create.ts';
import { healthRoute } from './routes/health/get.ts';
import { modelRoutes } from './routes/models/list.ts';
import { openApiRoute } from './routes/openapi/get.ts';
import { listProvidersRoute } from './routes/providers/list.ts';
import { listSizesRoute } from './routes/sizes/list.ts';
import { validatorCompiler } from './validation.ts';

/** A client has this long to send a whole request. */
const requestTimeoutMs = 60_000;

/**
 * The public API. Order of checks, each a hook or a step of Fastify's own: key (401), path and method (404, 405), scope (403),
 * body (400, 413, 415), agent (404), state (409), quota (429). A limit by address belongs before the key, one by key after it.
 */
export function createHttpApp(options: HttpAppOptions): FastifyInstance {
  const closing = new AbortController();
  const gateway = createGatewayClient();
  const context: HttpContext = { ...options, gateway, closing: closing.signal };
  const paths = new KnownPaths();
  const app = newServer(context);

  app.decorateRequest('principal');
  app.setErrorHandler((error, request, reply) => sendError(context.log, error, request, reply));
  app.setValidatorCompiler(validatorCompiler);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      done(null, parseJsonBody(request, bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addHook('onRoute', (route) => paths.add(route));
  app.addHook('preClose', async () => closing.abort());
  app.addHook('onClose', () => gateway.close());
  // The server closes idle connections once; those that were busy then go as they fall idle.
  app.addHook('onResponse', async (request) => {
    if (closing.signal.aborted) request.raw.socket.destroySoon();
  });
  addChecks(app, context, paths);
  logReplies(app, context);
  registerOpenApi(app);
  // Behind the document's plugin, which must see every route as it is added.
  app.register((scope, _options, done) => {
    for (const addRoute of routes) addRoute(scope, context);
    done();
  });
  return app;
}

const routes: readonly ((app: App, context: HttpContext) => void)[] = [
  createAgentRoute,
  listAgentsRoute,
  getAgentRoute,
  deleteAgentRoute,
  chatRoutes,
  modelRoutes,
  listSizesRoute,
  listProvidersRoute,
  healthRoute,
  openApiRoute,
];

function newServer(context: HttpContext): App {
  return fastify({
    logger: false,
    bodyLimit: mostBodyBytes,
    requestTimeout: requestTimeoutMs,
    genReqId: makeRequestId,
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      // An id is never too long for the router: it is an agent that does not exist.
      maxParamLength: 65_536,
      querystringParser: parseQuery,
    },
    frameworkErrors(error, request, reply) {
      authenticate(context.verifier, request).then(
        () => sendError(context.log, error, request, reply),
        (refusal: unknown) => sendError(context.log, refusal, request, reply),
      );
    },
    clientErrorHandler: answerClientError,
  });
}

function addChecks(app: App, { verifier }: HttpContext, paths: KnownPaths): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    const path = request.is404 ? paths.find(request.url) : null;
    if (!path?.public && !request.routeOptions.config.public) await authenticate(verifier, request);
    if (!request.is404) return checkScope(request);
    if (request.method === 'OPTIONS' && path) return reply.code(204).header('allow', allowOf(path)).send();
    throw routeRefusal(path);
  });
}

function logReplies(app: App, { log }: HttpContext): void {
  app.addHook('onResponse', async (request, reply) => {
    const { url, config } = request.routeOptions;
    const fields = {
      request_id: request.id,
      method: request.method,
      route: url ?? null,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
      key_id: request.principal?.keyId,
    };
    log[config.public ? 'debug' : 'info'](fields, 'request');
  });
}
