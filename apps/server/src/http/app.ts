import { NoQuery } from '@lodge/contract';
import { createFingerprints } from '@lodge/engine';
import type { Fingerprints } from '@lodge/engine';
import { Refusal, errorCodes } from '@lodge/domain';
import { guestClient } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress, Log } from '@lodge/ports';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestScope } from '../request-log.ts';
import { resourceRoutes } from '../resources/index.ts';
import type { UseCases } from '../resources/index.ts';
import { documentsSite } from './documents/site.ts';
import { WebPages } from './pages.ts';
import { addCompression } from './pipeline/compression.ts';
import { addCors } from './pipeline/cors.ts';
import { Cursors } from './reply/cursors.ts';
import { wantsPage } from './reply/small-page.ts';
import { addInOrder } from './pipeline/ordered-hooks.ts';
import { serverFactory } from './listener/listener.ts';
import { ConnectionPlaces } from './listener/places.ts';
import { isAgentId } from './reply/agent-record.ts';
import { AgentHosts } from './agent-urls/hosts.ts';
import { admitRequest, isOfDashboard, isOfPages } from './identity/admit.ts';
import type { Admitting } from './identity/admit.ts';
import { Endings } from './identity/ended.ts';
import { checkScope } from './identity/scopes.ts';
import { Sessions } from './identity/session.ts';
import { Strangers } from './identity/strangers.ts';
import type { App } from './app-types.ts';
import type { HttpAppOptions, HttpMetrics, NetworkSettings } from './context.ts';
import { answerClientError, sendError } from './pipeline/errors.ts';
import { addIdempotency } from './pipeline/idempotency/idempotency.ts';
import { outerIdOf } from './pipeline/inner-calls.ts';
import { maxBodyBytes, parseJsonBody } from './pipeline/json-body.ts';
import { Limits } from './pipeline/limits/limits.ts';
import { KnownPaths, allowOf, routeRefusal } from './pipeline/known-paths.ts';
import { registerOpenApi } from './openapi/openapi.ts';
import { parseQuery } from './pipeline/query.ts';
import { referencePage } from './openapi/reference-page.ts';
import { makeRequestId } from './pipeline/request-id.ts';
import { accountRoutes } from './routes/account/account.ts';
import { invitationRoutes } from './routes/account/invitations.ts';
import { keyRoutes } from './routes/account/keys.ts';
import { linkRoutes } from './routes/account/links.ts';
import { passwordRoutes } from './routes/account/password.ts';
import { peopleRoutes } from './routes/account/people.ts';
import { secondFactorRoutes } from './routes/account/second-factor.ts';
import { sessionRoutes } from './routes/account/sessions.ts';
import { signInRoutes } from './routes/account/sign-in.ts';
import { spendLimitRoutes } from './routes/account/spend-limits.ts';
import { actRoutes } from './routes/agents/act.ts';
import { createAgentRoute } from './routes/agents/create.ts';
import { deleteAgentRoute } from './routes/agents/delete.ts';
import { getAgentRoute } from './routes/agents/get.ts';
import { listAgentsRoute } from './routes/agents/list.ts';
import { updateAgentRoute } from './routes/agents/update.ts';
import { listAuditEventsRoute } from './routes/audit/list.ts';
import { chatRoutes } from './routes/chat/create.ts';
import { listEventsRoute } from './routes/events/list.ts';
import { fingerprintRoute } from './routes/fingerprints/create.ts';
import { execRoute } from './routes/exec/create.ts';
import { deleteFileRoute } from './routes/files/delete.ts';
import { readFileRoutes } from './routes/files/read.ts';
import { writeFileRoute } from './routes/files/write.ts';
import { clientRoutes } from './routes/oauth/clients.ts';
import { consentRoutes as programConsentRoutes } from './routes/oauth/consent.ts';
import { bearerChallenge, metadataRoutes } from './routes/oauth/metadata.ts';
import { deviceRoutes } from './routes/oauth/device.ts';
import { tokenRoute } from './routes/oauth/token.ts';
import { healthRoute } from './routes/health/get.ts';
import { hostRoute } from './routes/host/get.ts';
import { limitsRoute } from './routes/limits/get.ts';
import { checkLlmKeysRoute } from './routes/llm-keys/check.ts';
import { agentLogsRoute } from './routes/logs/list.ts';
import { getLlmCallRoute } from './routes/llm-calls/get.ts';
import { listLlmCallsRoute } from './routes/llm-calls/list.ts';
import { mcpRoute } from './routes/mcp/call.ts';
import { modelRoutes } from './routes/models/list.ts';
import { openApiRoute } from './routes/openapi/get.ts';
import { memberRoutes } from './routes/members/members.ts';
import { responseRoutes } from './routes/responses/create.ts';
import { listProvidersRoute } from './routes/providers/list.ts';
import { uploadRoutes } from './routes/uploads/uploads.ts';
import { listSizesRoute } from './routes/sizes/list.ts';
import { usageRoutes } from './routes/usage/get.ts';
import { terminalRoute } from './routes/terminal/get.ts';
import { validatorCompiler } from './pipeline/validation.ts';

const defaultDrainMs = 5_000;

/** The dependencies of the whole API, with the use-cases of its resources. */
export type AppOptions = HttpAppOptions & UseCases;

/** All dependencies. Only this file sees them: every other part receives only the needs that it names. */
interface Whole extends AppOptions {
  readonly guestAt: (guest: GuestAddress) => GuestClient;
  readonly limiter: Limits | null;
  readonly strangers: Strangers;
  readonly cursors: Cursors;
  readonly fingerprints: Fingerprints;
  readonly sessions: Sessions;
  readonly endings: Endings;
  readonly closing: AbortSignal;
  readonly cut: AbortSignal;
}

/**
 * The public API. Order of checks, each a hook or a step of Fastify's own: limit by address (429), key or session (401), its
 * limit (429), path and method (404, 405), scope (403), body (400, 413, 415), agent (404), state (409), quota (429).
 */
export function createHttpApp(options: AppOptions): FastifyInstance {
  const closing = new AbortController();
  const cut = new AbortController();
  const limiter = options.limits ? new Limits(options.limits, options.createWaitMs, options.log) : null;
  const strangers = new Strangers(limiter);
  const sealing = { cursors: new Cursors(options.secrets), fingerprints: createFingerprints(options.secrets) };
  const guestAt = options.guestAt ?? guestClient;
  const signals = { closing: closing.signal, cut: cut.signal };
  const sessions = new Sessions(options);
  const endings = new Endings({ ...options, sessions });
  const context: Whole = { ...options, guestAt, limiter, strangers, ...sealing, sessions, endings, ...signals };
  const paths = new KnownPaths();
  const pages = options.pages === null ? null : new WebPages(options.pages);
  const app = newServer(context);

  app.decorateRequest('principal');
  app.decorateRequest('me');
  app.decorateRequest('scope');
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
  let cutting: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    closing.abort();
    cutting = setTimeout(() => cut.abort(), options.drainMs ?? defaultDrainMs);
  });
  app.addHook('onClose', async () => clearTimeout(cutting));
  addScopes(app);
  addCors(app, options.network?.corsOrigins ?? []);
  // It comes after CORS, which answers a browser's preflight: that carries no key.
  addInOrder(app, () => {
    addChecks(app, context, { paths, pages });
    addIdempotency(app, context);
    if (limiter) addPlaces(app, limiter);
  });
  logReplies(app, context);
  registerOpenApi(app);
  // It comes after the document's plugin, which must see every route as it is added.
  app.register(async (scope) => {
    await addCompression(scope);
    refuseOtherQueries(scope);
    for (const addRoute of routes) addRoute(scope, context);
  });
  app.register(referencePage);
  if (options.documents !== undefined) app.register((scope) => documentsSite(scope, options.documents!));
  if (pages !== null) app.register((scope) => pages.addTo(scope));
  return app;
}

/** Makes each route of the API that names no query parameters refuse all. A hook ignores those that a third party adds. */
function refuseOtherQueries(scope: App): void {
  scope.addHook('onRoute', (route) => {
    const isOfApi = route.url.startsWith('/v1/') && !route.config?.ownToken;
    if (isOfApi) route.schema = { querystring: NoQuery, ...route.schema };
  });
}

const routes: readonly ((app: App, whole: Whole) => void)[] = [
  createAgentRoute,
  listAgentsRoute,
  getAgentRoute,
  updateAgentRoute,
  deleteAgentRoute,
  actRoutes,
  checkLlmKeysRoute,
  fingerprintRoute,
  agentLogsRoute,
  usageRoutes,
  listLlmCallsRoute,
  getLlmCallRoute,
  listAuditEventsRoute,
  listEventsRoute,
  chatRoutes,
  modelRoutes,
  readFileRoutes,
  writeFileRoute,
  deleteFileRoute,
  uploadRoutes,
  execRoute,
  terminalRoute,
  listSizesRoute,
  listProvidersRoute,
  memberRoutes,
  ...resourceRoutes,
  responseRoutes,
  accountRoutes,
  limitsRoute,
  hostRoute,
  mcpRoute,
  healthRoute,
  openApiRoute,
  // Signing in, and the settings of a signed-in person.
  signInRoutes,
  sessionRoutes,
  linkRoutes,
  passwordRoutes,
  secondFactorRoutes,
  keyRoutes,
  peopleRoutes,
  invitationRoutes,
  spendLimitRoutes,
  deviceRoutes,
  tokenRoute,
  clientRoutes,
  programConsentRoutes,
  metadataRoutes,
];

function newServer(context: Whole): App {
  const hosts = new AgentHosts(context);
  const { network = {}, closing } = context;
  const { tls, trustedProxies = [] }: Partial<NetworkSettings> = network;
  return fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    serverFactory: serverFactory(network, { hosts, closing, places: new ConnectionPlaces(network, context.log) }),
    // The factory has the certificate already; this is for the address that `listen` returns.
    ...(tls && { https: tls }),
    genReqId: (request) => outerIdOf(request) ?? makeRequestId(),
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      // No id is too long for the router: it is an agent that does not exist.
      maxParamLength: 65_536,
      querystringParser: parseQuery,
    },
    frameworkErrors(error, request, reply) {
      request.scope = new RequestScope(request.id);
      admitRequest(context, request, reply, false).then(
        () => sendError(context.log, error, request, reply),
        (refusal: unknown) => sendError(context.log, refusal, request, reply),
      );
    },
    clientErrorHandler: answerClientError,
  });
}

/** Every line that is logged for a request says which, and which agent it is about. */
function addScopes(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.scope = new RequestScope(request.id);
    const { id } = request.params as { readonly id?: string };
    if (id !== undefined && isAgentId(id)) request.scope.fields.agent_id = id;
    request.scope.run(done);
  });
  // A body arrives on the socket by itself. Fastify reads none with these methods.
  app.addHook('preValidation', ({ method, scope }, _reply, done) => {
    if (method === 'GET' || method === 'HEAD') done();
    else scope.run(done);
  });
}

interface Served {
  readonly paths: KnownPaths;
  readonly pages: WebPages | null;
}

function addChecks(app: App, admitting: Admitting & Pick<Whole, 'origin'>, { paths, pages }: Served): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    // CORS accepts OPTIONS of any path, and is no route of Lodge's.
    const isUnknown = request.is404 || request.routeOptions.url === '*';
    const path = isUnknown ? paths.find(request.url) : null;
    const isFrontDoor = isUnknown && path === null && pages !== null && isOfFrontDoor(request);
    const isPublic = isUnknown
      ? path?.public || isOfPages(request.url) || isFrontDoor
      : request.routeOptions.config.public;
    await admitRequest(admitting, request, reply, isPublic ?? false).catch((error: unknown) => {
      challenge(admitting, request, reply, error);
      throw error;
    });
    if (isFrontDoor) return pages.send(isOfDashboard(request.url) ? reply : reply.code(404));
    if (!isUnknown) return checkScope(request);
    if (request.method === 'OPTIONS' && path) return reply.code(204).header('allow', allowOf(path)).send();
    if (path) reply.header('allow', allowOf(path));
    throw routeRefusal(path);
  });
}

/** Tells whoever may not enter where access is had, on the routes that say so. */
function challenge(
  { origin }: Pick<Whole, 'origin'>,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): void {
  const { challenges } = request.routeOptions.config ?? {};
  if (!challenges || !(error instanceof Refusal) || errorCodes[error.code].status !== 401) return;
  const isInvalid = error.code !== 'missing_api_key';
  reply.header('www-authenticate', bearerChallenge(origin(), challenges, isInvalid));
}

/**
 * Whether somebody opened an address in a browser that is not the API's. There the dashboard is, or its page which says that
 * nothing is there. Programs get the usual answer.
 */
const isOfFrontDoor = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && !/^\/v1(?:[/?]|$)/.test(url) && wantsPage(headers);

/** Counts running creates, per key, after the replay of an earlier reply has been tried. */
function addPlaces(app: App, limiter: Limits): void {
  app.addHook('onReady', async () => limiter.start());
  app.addHook('onClose', async () => limiter.stop());
  app.addHook('preHandler', (request, reply, done) => {
    if (request.routeOptions.config.rate === 'creates') limiter.enterCreate(request, reply).then(() => done(), done);
    else done();
  });
}

interface Watching {
  readonly log: Log;
  readonly metrics?: HttpMetrics;
}

function logReplies(app: App, { log, metrics }: Watching): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, scope, principal } = request;
    const { url: route = null, config } = request.routeOptions;
    const { statusCode: status, elapsedTime: ms } = reply;
    const who = principal?.by.kind === 'session' ? 'session_id' : 'key_id';
    const fields = { ...scope.fields, method, route, status, ms: Math.round(ms), [who]: principal?.by.id };
    log[config.public ? 'debug' : 'info'](fields, 'request');
    metrics?.replied({ method, route, status, ms });
    scope.end();
    done();
  });
}
