/**
 * Requests that wait for a yes. The stored request is what was shown: after the wait it is checked again against the connection as
 * it is then, and goes nowhere else.
 */
import { Writable } from 'node:stream';
import { Refusal, confirmationBounds, errorCodes, requestAct } from '@lodge/domain';
import type { CallEnd, CallGuard, ConnectionDirectory, ConnectionRow, GuardedCaller, StoredCall } from '@lodge/ports';
import type { CallLog } from '../call-log.ts';
import { Access } from '../oauth/access.ts';
import type { LoginDeps } from '../oauth/login.ts';
import { forward } from './forward.ts';
import { guestHeaders } from './headers.ts';
import type { Passed } from './pass.ts';
import { Refused } from './refused.ts';
import { checkAllowed } from './target.ts';
import type { AnswerSink, Forwarding, Way } from './way.ts';

export interface ConfirmedDeps extends Way {
  readonly directory: ConnectionDirectory;
  readonly logins: LoginDeps;
  readonly calls: CallLog;
  /** Asks the owner about calls whose policy says so; without it they are refused. */
  readonly guard?: CallGuard;
}

/** Bytes of a body that waits for a yes. It is stored in base64, with its headers. */
export const maxGuardedBytes = confirmationBounds.callBytes / 2;

export const deniedByRule = (): Refused =>
  new Refused(403, 'confirmation_denied', 'A rule of the owner denies this call. Do not try it in another way.');

type HttpCall = Extract<StoredCall, { readonly kind: 'http' }>;

interface Confirming {
  readonly guest: GuardedCaller;
  readonly row: ConnectionRow;
  readonly request: Pick<Forwarding, 'target' | 'method' | 'headers' | 'body'>;
  /** Sends the request by the connection as it is now, and calls `begins` just before. */
  readonly send: (row: ConnectionRow, begins: () => void) => Promise<Passed>;
  readonly signal: AbortSignal;
}

/** Waits for a yes and sends the request. Rejects with a `Refused` where it is not sent. */
export async function sendConfirmed(deps: ConfirmedDeps, confirming: Confirming): Promise<Passed> {
  const { guest, row, request, send, signal } = confirming;
  if (deps.guard === undefined) throw deniedByRule();
  const call = storedCall(row, request);
  const act = requestAct(row.name, call.method, call.path);
  const answer = await deps.guard.ask(guest, act, call, signal).catch((error: unknown) => {
    throw error instanceof Refusal ? new Refused(errorCodes[error.code].status, error.code, error.message) : error;
  });
  if (answer.verdict !== 'allowed') {
    const code = answer.verdict === 'denied' ? 'confirmation_denied' : 'confirmation_pending';
    throw new Refused(403, code, answer.message);
  }
  let end: CallEnd = { outcome: 'failed', text: 'The connection has changed since it was shown.' };
  try {
    const now = await unchanged(deps.directory, guest.agentId, call);
    const passed = await send(now, () => (end = sent));
    end = { outcome: 'done', text: `The server answered with status ${passed.status}.` };
    return passed;
  } catch (error) {
    end = endOf(error, end);
    throw error;
  } finally {
    await answer.ended(end);
  }
}

/** Makes a stored request of which no turn waits for the answer. Never rejects. */
export async function makeStored(
  deps: ConfirmedDeps,
  { agentId }: Pick<GuardedCaller, 'agentId'>,
  call: StoredCall,
  signal: AbortSignal,
): Promise<CallEnd> {
  let end: CallEnd = { outcome: 'failed', text: 'The connection has changed since it was shown.' };
  try {
    if (call.kind !== 'http') return end;
    const row = await unchanged(deps.directory, agentId, call);
    const sink = new KeptAnswer();
    const access = new Access(deps.logins, row);
    const credentials = await access.credentials();
    end = sent;
    const { method, path, query } = call;
    const { status, cut } = await forward(deps, {
      row,
      access,
      credentials,
      target: { name: row.name, path, query },
      method,
      headers: call.headers as Record<string, string | string[]>,
      body: call.body === null ? null : Buffer.from(call.body, 'base64'),
      // A request that was shown is not sent elsewhere.
      isFree: () => false,
      res: sink,
      signal,
    });
    const more = cut === null ? '' : ` The answer was cut: ${cut}.`;
    deps.calls.write(agentId, 'info', `Connection ${row.name}: ${method} ${path} was answered with ${status}.${more}`);
    return { outcome: 'done', text: `Status ${status}.${more}\n\n${sink.text()}` };
  } catch (error) {
    return endOf(error, end);
  }
}

/** From here on a request may have left. */
const sent: CallEnd = { outcome: 'unknown', text: 'No answer is known.' };

/**
 * A request that was not begun has not left, whatever refused it, such as an authorization server that does not renew access.
 * The refusal of one that was begun says whether it may have left: it has not where the address or its spelling was refused.
 */
function endOf(error: unknown, end: CallEnd): CallEnd {
  if (!(error instanceof Refused)) return end;
  const { status, code, message } = error;
  const mayHaveLeft = end.outcome !== 'failed' && status >= 500 && code !== 'address_refused';
  return { outcome: mayHaveLeft ? 'unknown' : 'failed', text: message };
}

const storedCall = (
  { name: connection, url }: ConnectionRow,
  { target, method, headers, body }: Confirming['request'],
): HttpCall => ({
  kind: 'http',
  connection,
  url,
  method,
  path: target.path,
  query: target.query,
  headers: guestHeaders(headers),
  body: body === null ? null : body.toString('base64'),
});

/** The connection as it is now, if it still leads where the call was shown to go. */
async function unchanged(directory: ConnectionDirectory, agentId: string, call: HttpCall): Promise<ConnectionRow> {
  const { connection, url, method, path, query } = call;
  const row = await directory.usableOne(agentId, connection);
  if (row === null || row.url !== url) {
    throw new Refused(
      403,
      'connection_not_allowed',
      'The connection has changed since it was shown: nothing was sent.',
    );
  }
  checkAllowed(row, method, { name: connection, path, query });
  return row;
}

/** Keeps the beginning of an answer, and drops the rest. */
class KeptAnswer extends Writable implements AnswerSink {
  headersSent = false;
  readonly #kept: Buffer[] = [];
  #bytes = 0;

  writeHead(): void {
    this.headersSent = true;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const room = confirmationBounds.answerChars * 4 - this.#bytes;
    if (room > 0) this.#kept.push(Buffer.from(chunk.subarray(0, room)));
    this.#bytes += chunk.length;
    done();
  }

  text(): string {
    return Buffer.concat(this.#kept).toString('utf8').slice(0, confirmationBounds.answerChars);
  }
}
