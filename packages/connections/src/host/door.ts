/**
 * Hosts of connections under their own names. A machine's name for such a host leads to this Lodge, which ends TLS here with a
 * certificate of its authority and sends the request on. The guest is hostile: it chooses name, host, path, headers and
 * body, and each of them is checked against the agent's present connections with each request.
 *
 *   name (SNI)   one of the agent's hosts, or there is no handshake
 *   host         the name of the handshake
 *   method, path as `allow` says, in the one plain way
 *   headers      placeholders are filled in where their secret says; anywhere else they are refused
 *   query, body  without a placeholder; a body is searched while it passes
 *
 * Answers pass as those of other connections: searched for the secrets, bounded, logged. So do frames of WebSockets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { TokenBuckets, policyFor, requestAct, withPlainScopes } from '@lodge/domain';
import type { GuardedCaller } from '@lodge/ports';
import type { CallLog } from '../call-log.ts';
import { deniedByRule } from '../http/confirmed.ts';
import type { ConfirmedDeps } from '../http/confirmed.ts';
import type { Passed } from '../http/pass.ts';
import { Refused, sendRefusal } from '../http/refused.ts';
import { checkRequest } from '../http/target.ts';
import type { HostCertificates } from './certificates.ts';
import { sendAskedToHost } from './confirmed.ts';
import { forwardToHost, hostRows } from './forward.ts';
import type { HostRequest, HostWay } from './forward.ts';
import { passingBody } from './passing-body.ts';
import { isUpgrade, openWebSocket } from './web-socket.ts';

/** A door for connections that begin with TLS. */
export interface SecureDoor {
  /** Ends TLS. Resolves with the plain side; rejects, with the socket destroyed, when the handshake fails or takes too long. */
  secure(guest: { readonly agentId: string }, socket: Socket): Promise<TLSSocket>;
  /** Answers a request that came over such a socket. */
  handle(guest: GuardedCaller, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
}

export interface HostDoorDeps extends HostWay, Pick<ConfirmedDeps, 'guard'> {
  readonly calls: CallLog;
  readonly certificates: HostCertificates;
}

export function createHostDoor(deps: HostDoorDeps): SecureDoor {
  const { callsPerMinute } = deps.bounds;
  const rate = new TokenBuckets({ perSecond: callsPerMinute / 60, burst: callsPerMinute / 2 }, 100_000);
  return {
    secure: (guest, socket) => secure(deps, guest, socket),
    async handle(guest, req, res, signal) {
      try {
        await call(deps, rate, { guest, req, res, signal });
      } catch (error) {
        // The guest has left, or its request broke off.
        if (signal.aborted || req.errored || (req.destroyed && !req.complete)) res.destroy();
        else if (error instanceof Refused && !res.headersSent) sendRefusal(res, error);
        else throw error;
      }
    },
  };
}

async function secure(
  { directory, certificates, bounds }: HostDoorDeps,
  { agentId }: { readonly agentId: string },
  socket: Socket,
): Promise<TLSSocket> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(new Error('the handshake did not come to its end'));
  ended.promise.catch(() => undefined);
  const timer = setTimeout(end, bounds.handshakeMs);
  socket.once('close', end);
  socket.on('error', end);
  try {
    const hosts = new Set(
      (await Promise.race([hostRows(directory, agentId), ended.promise])).flatMap((row) => row.hosts),
    );
    const plain = new TLSSocket(socket, {
      isServer: true,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      SNICallback(name, done) {
        if (!hosts.has(name)) return done(new Error('no host of this agent'));
        certificates.of(name).then((made) => done(null, made), done);
      },
    });
    plain.on('error', end);
    await Promise.race([new Promise((resolve) => plain.once('secure', resolve)), ended.promise]);
    // Without a name there was no certificate either.
    if (!hosts.has(nameOf(plain))) throw new Error('a handshake without a name');
    return plain;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const nameOf = (socket: TLSSocket): string => (socket as { readonly servername?: string | false }).servername || '';

interface Asked {
  readonly guest: GuardedCaller;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
}

async function call(deps: HostDoorDeps, rate: TokenBuckets, { guest, req, res, signal }: Asked): Promise<void> {
  const { agentId } = guest;
  const rows = await hostRows(deps.directory, agentId);
  const host = nameOf(req.socket as TLSSocket);
  const row = rows.find(({ hosts }) => hosts.includes(host));
  if (row === undefined) throw new Refused(403, 'connection_not_found', 'This agent has no such host any more.');
  const began = performance.now();
  const { method = '', headers } = req;
  const { path, query } = targetOf(req.url ?? '');
  const shown = `Connection ${row.name}: ${method} ${host}`;
  try {
    checkHost(req, host);
    checkRequest(row, method, { path, query });
    const policy = policyFor(guest.confirmations, requestAct(row.name, method, path));
    if (policy === 'deny') throw deniedByRule();
    if (!rate.allows(`${agentId}/${row.name}`, began))
      throw new Refused(429, 'rate_limit_exceeded', 'Too many calls of this connection. Try again shortly.', 1);
    const request: HostRequest = { rows, row, host, method, path, query, headers };
    if (isUpgrade(req)) return await webSocket(deps, request, { guest, req, signal }, policy === 'ask');
    const { status, bytes, cut }: Passed = await (policy === 'ask'
      ? sendAskedToHost(deps, { guest, request, req, res, signal })
      : forwardToHost(deps, { ...request, body: passingBody(deps, request, req, signal), res, signal }));
    const end = cut === null ? '' : ` The answer was cut: ${cut}.`;
    const sentence = `${shown}${path} was answered with ${status}, ${bytes} bytes, ${Math.round(performance.now() - began)} ms.${end}`;
    deps.calls.write(agentId, cut === null ? 'info' : 'warn', sentence);
  } catch (error) {
    if (error instanceof Refused) {
      const where = error.code === 'path_not_canonical' || error.code === 'placeholder_misplaced' ? '' : path;
      deps.calls.write(agentId, 'warn', `${shown}${where.slice(0, 500)} was refused. ${error.message}`);
    }
    throw error;
  }
}

/** A rule that asks would show an empty request, and nothing of what is said after it. */
async function webSocket(
  deps: HostDoorDeps,
  request: HostRequest,
  { guest, req, signal }: Omit<Asked, 'res'>,
  isAsked: boolean,
): Promise<void> {
  const { row, host, path, method } = request;
  if (isAsked) throw new Refused(403, 'confirmation_denied', 'A rule asks before this call: a WebSocket cannot wait.');
  if (method !== 'GET') throw new Refused(400, 'invalid_request', 'A WebSocket is opened by GET.');
  const began = performance.now();
  const { up, down, cut } = await openWebSocket(deps, request, req.socket, signal);
  const end = cut === null ? '' : ` It was cut: ${cut}.`;
  const seconds = Math.round((performance.now() - began) / 1_000);
  const sentence = `Connection ${row.name}: GET ${host}${path} was a WebSocket for ${seconds} s, ${up} bytes to the server and ${down} bytes from it.${end}`;
  deps.calls.write(guest.agentId, cut === null ? 'info' : 'warn', sentence);
}

function targetOf(url: string): Pick<HostRequest, 'path' | 'query'> {
  const mark = url.indexOf('?');
  const [path, query] = mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark)];
  return { path: withPlainScopes(path), query };
}

function checkHost(req: IncomingMessage, host: string): void {
  const hosts = req.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  const given = req.headers.host?.toLowerCase();
  if (hosts.length !== 1 || (given !== host && given !== `${host}:443`))
    throw new Refused(421, 'host_mismatch', 'The header Host must be the name of the TLS handshake.');
}
