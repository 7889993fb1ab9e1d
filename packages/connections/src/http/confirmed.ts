/**
 * Requests that wait for a yes. The stored request is what was shown: after the wait it is checked again against the connection as
 * it is then, and goes nowhere else.
 */
import { Writable } from 'node:stream';
import { Refusal, confirmationBounds, errorCodes, requestAct } from '@lodge/domain';
import type { CallEnd, CallGuard, ConnectionDirectory, ConnectionRow, GuardedCaller, RequestCall } from '@lodge/ports';
import type { CallLog } from '../call-log.ts';
import { Access } from '../oauth/access.ts';
import type { LoginDeps } from '../oauth/login.ts';
import { forward } from './forward.ts';
import type { Passed } from './pass.ts';
import { Refused } from './refused.ts';
import { checkRequest } from './target.ts';
import type { AnswerSink, Way } from './way.ts';

export interface ConfirmedDeps extends Way {
  readonly directory: ConnectionDirectory;
  readonly logins: LoginDeps;
  readonly calls: CallLog;
  /** Asks the owner about calls whose policy says so; without it they are refused. */
  readonly guard?: CallGuard;
}

/** Bytes of a body that waits for a yes. It is stored in base64, with its headers. */
export const maxGuardedBytes = confirmationBounds.callBytes / 2;
export const tooLargeToAsk = `A request that waits for a yes may have at most ${maxGuardedBytes / 1024} KiB, as it is stored. Nothing was sent: make it smaller, or ask the owner for a rule that allows it.`;

export const deniedByRule = (): Refused =>
  new Refused(403, 'confirmation_denied', 'A rule of the owner denies this call. Do not try it in another way.');

interface Confirming {
  readonly guest: GuardedCaller;
  readonly row: ConnectionRow;
  readonly call: RequestCall;
  /** Sends the request by the connection as it is now, and calls `begins` just before. */
  readonly send: (row: ConnectionRow, begins: () => void) => Promise<Passed>;
  readonly signal: AbortSignal;
}

/** Waits for a yes and sends the request. Rejects with a `Refused` where it is not sent. */
export async function sendConfirmed(
  deps: Pick<ConfirmedDeps, 'directory' | 'guard'>,
  confirming: Confirming,
): Promise<Passed> {
  const { guest, row, call, send, signal } = confirming;
  if (deps.guard === undefined) throw deniedByRule();
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
  { directory, calls }: Pick<ConfirmedDeps, 'directory' | 'calls'>,
  { agentId }: Pick<GuardedCaller, 'agentId'>,
  call: RequestCall,
  send: SendStored,
): Promise<CallEnd> {
  let end: CallEnd = { outcome: 'failed', text: 'The connection has changed since it was shown.' };
  try {
    const row = await unchanged(directory, agentId, call);
    const sink = new KeptAnswer();
    const { method, path } = call;
    const { status, cut } = await send(row, storedRequest(call), sink, () => void (end = sent));
    const more = cut === null ? '' : ` The answer was cut: ${cut}.`;
    const at = call.kind === 'host' ? new URL(call.url).host : '';
    calls.write(agentId, 'info', `Connection ${row.name}: ${method} ${at}${path} was answered with ${status}.${more}`);
    return { outcome: 'done', text: `Status ${status}.${more}\n\n${sink.text()}` };
  } catch (error) {
    return endOf(error, end);
  }
}

/** Sends a stored request, and calls `begins` just before. */
type SendStored = (row: ConnectionRow, request: StoredRequest, sink: AnswerSink, begins: () => void) => Promise<Passed>;

export interface StoredRequest {
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer | null;
}

const storedRequest = ({ headers, body }: RequestCall): StoredRequest => ({
  headers: headers as StoredRequest['headers'],
  body: body === null ? null : Buffer.from(body, 'base64'),
});

/** Sends a stored request to an `http` connection. */
export const sendStored =
  (deps: ConfirmedDeps, { method, path, query }: RequestCall, signal: AbortSignal): SendStored =>
  async (row, request, res, begins) => {
    const access = new Access(deps.logins, row);
    const credentials = await access.credentials();
    const target = { name: row.name, path, query };
    // A request that was shown is not sent elsewhere.
    const isFree = (): boolean => false;
    begins();
    return forward(deps, { row, access, credentials, target, method, ...request, isFree, res, signal });
  };

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

const leadsTo = ({ kind, url, hosts }: ConnectionRow, call: RequestCall): boolean =>
  kind === call.kind && (kind === 'host' ? hosts.some((host) => `https://${host}` === call.url) : url === call.url);

/** The connection as it is now, if it still leads where the call was shown to go. */
async function unchanged(directory: ConnectionDirectory, agentId: string, call: RequestCall): Promise<ConnectionRow> {
  const { connection, method, path, query } = call;
  const row = await directory.usableOne(agentId, connection);
  if (row === null || !leadsTo(row, call)) {
    throw new Refused(
      403,
      'connection_not_allowed',
      'The connection has changed since it was shown: nothing was sent.',
    );
  }
  checkRequest(row, method, { path, query });
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
