/**
 * `Idempotency-Key` on POST: the first request with a key claims it and is executed; its reply is kept for 24 hours and sent
 * again for the same request. A claim is a lease: if the server is killed, the next attempt takes it over. Each change of an
 * attempt records the claim in its own transaction (`ChangeNote`), so that a second attempt only answers. A reply that may
 * succeed another time (409, 429, most 5xx) is not kept, and neither is one that is too large, or any while the host's disk
 * is low. The fact that a request was executed is always kept.
 */
import { Refusal, makeAgentId } from '@lodge/domain';
import { createHash, hash, randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Claim, IdempotencyStore, Log, StoredReply } from '@lodge/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app-types.ts';
import { Claims, leaseMs } from './claims.ts';
import { checkSecretReply } from './secret-replies.ts';
import { ClaimTurns } from './turns.ts';

const maxKeptBytes = 256 * 1024;
const keptHeaders = ['content-type', 'location', 'etag', 'x-agent-id', 'preference-applied'];

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an Idempotency-Key. */
    idempotent: Claim | undefined;
  }
}

interface Needs {
  readonly idempotency?: IdempotencyStore;
  readonly hasRoom?: () => boolean;
  readonly log: Log;
}

export function addIdempotency(app: App, { idempotency: store, hasRoom = () => true, log }: Needs): void {
  app.decorateRequest('idempotent');
  app.addHook('onRoute', checkSecretReply);
  if (store === undefined) return;
  const claims = new Claims(store, log);
  const turns = new ClaimTurns();
  app.addHook('onReady', async () => claims.start());
  app.addHook('onClose', async () => claims.stop());

  const claim = async (request: FastifyRequest, reply: FastifyReply, header: string | string[]): Promise<unknown> => {
    const key = checkedKey(header);
    const { accountId } = request.principal;
    const agentId = makeAgentId(randomInt);
    const asked = { accountId, key, fingerprint: fingerprintOf(request), agentId };
    const outcome = await turns.begin(accountId, () => store.claim(asked, leaseMs));
    switch (outcome.kind) {
      case 'claimed':
        claims.hold(outcome.claim);
        request.idempotent = outcome.claim;
        reply.raw.once('close', () => claims.drop(outcome.claim));
        return;
      case 'replay':
        return replay(reply, outcome.reply);
      case 'in_progress':
        throw new Refusal('idempotency_in_progress', 'The first request with this Idempotency-Key is under way.');
      case 'not_kept':
        throw new Refusal(
          'idempotency_key_reused',
          'The request with this Idempotency-Key was carried out; its reply was a stream, a secret or too large, or gave way to later ones.',
        );
      case 'full':
        throw new Refusal(
          'quota_exceeded',
          'The account has used too many Idempotency-Keys within an hour. The request was not carried out.',
          { retryAfterSeconds: 60 },
        );
      case 'reused':
        throw new Refusal(
          'idempotency_key_reused',
          'This Idempotency-Key came with another request before. Use a fresh one for each request.',
        );
    }
  };
  const mayBeKept = ({ routeOptions }: FastifyRequest): boolean => !routeOptions.config.secretReply && hasRoom();
  const settle = (claim: Claim, request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> => {
    const kept = mayBeKept(request) ? storedReply(reply, payload) : null;
    // A refused request changed nothing. If its reply is not kept, it is executed again, and never reported as done.
    const isRefusal = reply.statusCode >= 400 && reply.statusCode < 500;
    const isDone = isKept(reply) && !(kept === null && isRefusal);
    return turns.end(claim.accountId, () => (isDone ? store.complete(claim, kept) : store.abandon(claim)));
  };

  // Most requests have no key and do not wait for a promise.
  app.addHook('preHandler', (request, reply, done) => {
    const header = request.headers['idempotency-key'];
    if (header === undefined || request.method !== 'POST' || request.principal == null) done();
    // These replies hold secrets, and these changes do not record their claim.
    else if (request.routeOptions.config.sessionOnly || request.routeOptions.config.passesOn) done();
    else claim(request, reply, header).then(() => done(), done);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.idempotent === undefined) done(null, payload);
    else settle(request.idempotent, request, reply, payload).then(() => done(null, payload), done);
  });
}

function checkedKey(header: string | string[]): string {
  const key = String(header);
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new Refusal('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
}

/**
 * The fingerprint of a request: the parsed body, because a client may write the same one in other words. Bytes are what they
 * are.
 */
function fingerprintOf({ method, url, headers, body }: FastifyRequest): Buffer {
  const said = Buffer.isBuffer(body)
    ? hash('sha256', body)
    : body instanceof Readable
      ? lengthOf(headers)
      : sorted(body);
  return createHash('sha256')
    .update(JSON.stringify([method, url, said ?? null]))
    .digest();
}

/** A body that is still to be read is known by its length alone. */
const lengthOf = (headers: FastifyRequest['headers']) => ({ bytes: headers['content-length'] ?? null });

/** The value with the keys of every object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

function replay(reply: FastifyReply, { status, headers, body }: StoredReply): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'idempotent-replayed': 'true' })
    .serializer(String)
    .send(body);
}

/** Whether the same request would have the same outcome. An agent that did not start exists all the same. */
function isKept(reply: FastifyReply): boolean {
  const { statusCode } = reply;
  if (statusCode >= 500) return reply.hasHeader('x-agent-id');
  return statusCode !== 409 && statusCode !== 429;
}

function storedReply(reply: FastifyReply, payload: unknown): StoredReply | null {
  if (typeof payload !== 'string' || Buffer.byteLength(payload) > maxKeptBytes || payload.includes('\0')) return null;
  const headers = keptHeaders.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { status: reply.statusCode, headers: Object.fromEntries(headers), body: payload };
}
