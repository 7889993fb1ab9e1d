/** Serves `/connections/…` at the broker: other people's services, reached without their credentials. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { policyFor, requestAct } from '@lodge/domain';
import type { ConfirmationPolicy, TokenBuckets } from '@lodge/domain';
import type { ConnectionDirectory, ConnectionRow, GuardedCaller, RequestCall } from '@lodge/ports';
import { bodyOf } from './http/body.ts';
import { forward } from './http/forward.ts';
import { guestHeaders } from './http/headers.ts';
import type { Passed } from './http/pass.ts';
import { Refused, sendRefusal } from './http/refused.ts';
import { checkAllowed, checkName, noConnection, targetOf } from './http/target.ts';
import type { Target } from './http/target.ts';
import type { Forwarding } from './http/way.ts';
import { Access } from './oauth/access.ts';
import { deniedByRule, maxGuardedBytes, sendConfirmed, tooLargeToAsk } from './http/confirmed.ts';
import type { ConfirmedDeps } from './http/confirmed.ts';

/** A door as the broker defines it. */
export interface ConnectionDoor {
  handle(guest: GuardedCaller, req: IncomingMessage, res: ServerResponse, signal: AbortSignal): Promise<void>;
}

export interface DoorDeps extends ConfirmedDeps {
  /** Rates by `rateName`. */
  readonly rate: TokenBuckets;
}

export const rateName = ({ agentId, name }: Pick<ConnectionRow, 'agentId' | 'name'>): string => `${agentId}/${name}`;

export function createDoor(deps: DoorDeps): ConnectionDoor {
  return {
    async handle(guest, req, res, signal) {
      const { agentId } = guest;
      const target = targetOf(req.url ?? '');
      try {
        if (target === null) await list(deps.directory, agentId, req, res);
        else await call(deps, { guest, target, req, res, signal });
      } catch (error) {
        // The guest has left, or its request broke off.
        if (signal.aborted || req.errored || (req.destroyed && !req.complete)) res.destroy();
        else if (error instanceof Refused && !res.headersSent) sendRefusal(res, error);
        else throw error;
      }
    },
  };
}

/** Lists the facts that an agent may know about its connections. */
async function list(
  directory: ConnectionDirectory,
  agentId: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.method !== 'GET') throw new Refused(405, 'method_not_allowed', 'Connections are listed by GET.');
  const rows = await directory.usable(agentId);
  const data = rows.map(({ name, kind, allow }) => ({
    name,
    kind,
    ...(kind === 'http' && { path: `/connections/${name}`, allow }),
  }));
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }));
}

interface Asked {
  readonly guest: GuardedCaller;
  readonly target: Target;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly signal: AbortSignal;
}

async function call(deps: DoorDeps, asked: Asked): Promise<void> {
  const { guest, target, req, res, signal } = asked;
  const { agentId } = guest;
  const { method = '' } = req;
  checkName(target);
  const row = await deps.directory.usableOne(agentId, target.name);
  if (row === null) throw noConnection();
  const began = performance.now();
  const said = sentences(row, asked);
  try {
    checkAllowed(row, method, target);
    const policyOf = (path: string): ConfirmationPolicy =>
      policyFor(guest.confirmations, requestAct(row.name, method, path));
    const policy = policyOf(target.path);
    if (policy === 'deny') throw deniedByRule();
    if (!deps.rate.allows(rateName(row), began)) {
      throw new Refused(429, 'rate_limit_exceeded', 'Too many calls of this connection. Try again shortly.', 1);
    }
    const held = deps.budget.held.heldBy(row);
    try {
      const asks = policy === 'ask';
      const body = await (asks
        ? bodyOf(req, held, maxGuardedBytes, tooLargeToAsk)
        : bodyOf(req, held, deps.bounds.requestBytes));
      const { headers } = req;
      const isFree = (path: string): boolean => policyOf(path) === 'allow';
      const request = { target, method, headers, body, isFree };
      const send = async (to: ConnectionRow, begins = (): void => undefined): Promise<Passed> => {
        const access = new Access(deps.logins, to);
        const credentials = await access.credentials();
        begins();
        return forward(deps, { row: to, access, credentials, ...request, res, signal });
      };
      const passed = await (asks
        ? sendConfirmed(deps, { guest, row, call: storedCall(row, request), send, signal })
        : send(row));
      deps.calls.write(agentId, passed.cut === null ? 'info' : 'warn', said.passed(passed, performance.now() - began));
    } finally {
      held.giveBack();
    }
  } catch (error) {
    if (error instanceof Refused) deps.calls.write(agentId, 'warn', said.refused(error));
    throw error;
  }
}

const storedCall = (
  { name: connection, url }: ConnectionRow,
  { target, method, headers, body }: Pick<Forwarding, 'target' | 'method' | 'headers' | 'body'>,
): RequestCall => ({
  kind: 'http',
  connection,
  url,
  method,
  path: target.path,
  query: target.query,
  headers: guestHeaders(headers),
  body: body === null ? null : body.toString('base64'),
});

/** Makes lines of the log. A path that is not plain is not repeated. */
function sentences({ name }: ConnectionRow, { req, target }: Asked) {
  return {
    passed: ({ status, bytes, cut }: Passed, ms: number): string => {
      const end = cut === null ? '' : ` The answer was cut: ${cut}.`;
      return `Connection ${name}: ${req.method} ${target.path} was answered with ${status}, ${bytes} bytes, ${Math.round(ms)} ms.${end}`;
    },
    refused: ({ code, message }: Refused): string => {
      const what = code === 'path_not_canonical' ? req.method : `${req.method} ${target.path.slice(0, 500)}`;
      return `Connection ${name}: ${what} was refused. ${message}`;
    },
  };
}
