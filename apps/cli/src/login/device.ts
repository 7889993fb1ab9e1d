/** Sign-in of a program that has no browser of its own: the device authorization grant (RFC 8628). */
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, exitCodes } from '../failure.ts';

export interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  readonly verificationUriComplete: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
const requestTimeoutMs = 30_000;
const maxReplyBytes = 64 * 1024;
/** RFC 8628, section 3.5: a client that was told to slow down waits so much longer from then on. */
const slowDownSeconds = 5;
const maxIntervalSeconds = 60;
const maxLifetimeSeconds = 3600;

interface Reply {
  readonly isOk: boolean;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks for a code that the person compares. */
export async function requestCode(
  url: string,
  clientName: string,
  scope: string | undefined,
  signal: AbortSignal,
): Promise<DeviceCode> {
  const fields = { client_name: clientName, ...(scope !== undefined && { scope }) };
  const { isOk, status, body } = await post(`${url}/v1/oauth/device_authorization`, fields, signal);
  if (!isOk) throw refused(status, body);
  const [deviceCode, userCode, uri] = [body['device_code'], body['user_code'], body['verification_uri']];
  if (typeof deviceCode !== 'string' || typeof userCode !== 'string' || typeof uri !== 'string') throw notLodge(url);
  const complete = body['verification_uri_complete'];
  return {
    deviceCode,
    userCode,
    verificationUri: uri,
    verificationUriComplete: typeof complete === 'string' ? complete : uri,
    expiresInSeconds: numberIn(body['expires_in'], 1, maxLifetimeSeconds, 600),
    intervalSeconds: numberIn(body['interval'], 1, maxIntervalSeconds, 5),
  };
}

/** Waits until the person has decided, and returns the key. */
export async function awaitKey(url: string, code: DeviceCode, signal: AbortSignal): Promise<string> {
  const until = Date.now() + code.expiresInSeconds * 1000;
  let interval = code.intervalSeconds;
  while (Date.now() < until) {
    await sleep(interval * 1000, undefined, { signal });
    const fields = { grant_type: grantType, device_code: code.deviceCode, client_id: 'lodge' };
    const { isOk, status, body } = await post(`${url}/v1/oauth/token`, fields, signal);
    const key = body['access_token'];
    if (isOk && typeof key === 'string') return key;
    switch (body['error']) {
      case 'authorization_pending':
        break;
      case 'slow_down':
        interval = Math.min(maxIntervalSeconds, interval + slowDownSeconds);
        break;
      case 'access_denied':
        throw new CommandError(exitCodes.denied, 'The request was denied in the browser.');
      case 'expired_token':
        throw expired();
      default:
        // Too many requests of this network: the code stays good meanwhile.
        if (status === 429) interval = Math.min(maxIntervalSeconds, interval + slowDownSeconds);
        else throw refused(status, body);
    }
  }
  throw expired();
}

const expired = (): CommandError =>
  new CommandError(exitCodes.denied, 'The code has expired before anybody approved it.', 'Begin again: `lodge login`.');

const notLodge = (url: string): CommandError =>
  new CommandError(exitCodes.unreachable, `${url} does not answer as Lodge does.`, 'Check the address.');

function refused(status: number, body: Reply['body']): CommandError {
  const { error, error_description: description } = body;
  const inEnvelope =
    typeof error === 'object' && error !== null ? (error as { readonly message?: unknown }).message : undefined;
  const said = [description, inEnvelope, error].find((each): each is string => typeof each === 'string');
  const exitCode = status === 429 ? exitCodes.limited : status < 500 ? exitCodes.usage : exitCodes.unreachable;
  return new CommandError(
    exitCode,
    said ?? `The server answered ${status}.`,
    'Or make a key in the account area, and give it to `lodge login --with-key`.',
  );
}

async function post(address: string, fields: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Reply> {
  let response: Response;
  try {
    response = await fetch(address, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    const { origin } = new URL(address);
    throw new CommandError(exitCodes.unreachable, `${origin} was not reached.`, `Is Lodge running there?`);
  }
  return { isOk: response.ok, status: response.status, body: await readObject(response) };
}

/** Reads a bounded JSON object; an empty one where the reply is none. */
async function readObject(response: Response): Promise<Reply['body']> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > maxReplyBytes) return {};
    parts.push(part);
  }
  try {
    const value = JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null ? (value as Reply['body']) : {};
  } catch {
    return {};
  }
}

function numberIn(value: unknown, least: number, most: number, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise;
}
