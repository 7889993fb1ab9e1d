/** Requests to hosts that wait for a yes. They are sealed with placeholders: secrets are filled in when they are sent. */
import type { IncomingMessage } from 'node:http';
import type { ConnectionRow, GuardedCaller, RequestCall } from '@lodge/ports';
import { bodyOf } from '../http/body.ts';
import { maxGuardedBytes, sendConfirmed, tooLargeToAsk } from '../http/confirmed.ts';
import type { ConfirmedDeps, StoredRequest } from '../http/confirmed.ts';
import { guestHeaders } from '../http/headers.ts';
import type { Passed } from '../http/pass.ts';
import type { AnswerSink } from '../http/way.ts';
import { filled, forwardToHost, hostRows } from './forward.ts';
import type { HostRequest, HostWay } from './forward.ts';
import { checkWholeBody } from './passing-body.ts';

interface Asking {
  readonly guest: GuardedCaller;
  readonly request: HostRequest;
  readonly req: IncomingMessage;
  readonly res: AnswerSink;
  readonly signal: AbortSignal;
}

/** Waits for a yes and sends the request. Rejects with a `Refused` where it is not sent. */
export async function sendAskedToHost(
  way: HostWay & Pick<ConfirmedDeps, 'guard'>,
  { guest, request, req, res, signal }: Asking,
): Promise<Passed> {
  const { row, host } = request;
  const held = way.budget.held.heldBy(row);
  try {
    const body = await bodyOf(req, held, maxGuardedBytes, tooLargeToAsk);
    filled(way.credentials, request);
    if (body !== null) await checkWholeBody(way, request, body, signal);
    const call = storedCall(request, body);
    const headers = call.headers as StoredRequest['headers'];
    const send = async (now: ConnectionRow, begins: () => void): Promise<Passed> => {
      const rows = await hostRows(way.directory, guest.agentId);
      return forwardToHost(way, { ...request, rows, row: now, host, headers, body, res, signal, begins });
    };
    return await sendConfirmed(way, { guest, row, call, send, signal });
  } finally {
    held.giveBack();
  }
}

/** Sends a stored request of which no turn waits for the answer. */
export const sendStoredToHost =
  (way: HostWay, { url, method, path, query }: RequestCall, signal: AbortSignal) =>
  async (row: ConnectionRow, request: StoredRequest, res: AnswerSink, begins: () => void): Promise<Passed> => {
    const rows = await hostRows(way.directory, row.agentId);
    const { host } = new URL(url);
    return forwardToHost(way, { rows, row, host, method, path, query, ...request, res, signal, begins });
  };

function storedCall({ row, host, method, path, query, headers }: HostRequest, body: Buffer | null): RequestCall {
  const { authorization } = headers;
  return {
    kind: 'host',
    connection: row.name,
    url: `https://${host}`,
    method,
    path,
    query,
    headers: { ...guestHeaders(headers), ...(authorization !== undefined && { authorization }) },
    body: body === null ? null : body.toString('base64'),
  };
}
