/**
 * One signed request to an S3-compatible storage, tried again where that may help. An answer is bounded in bytes and in time
 * before anything in it is looked at. The body's hash is signed, so the storage refuses bytes that arrive otherwise.
 */
import { createHash, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { BackupError } from '../../errors.ts';
import { codeOf, refusal } from './refusals.ts';
import { usualPace } from './settings.ts';
import type { S3Pace, S3Settings } from './settings.ts';

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Within the bucket; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Of the answer's body. */
  readonly maxBytes: number;
  readonly verb: 'read' | 'write' | 'list' | 'remove';
}

export interface S3Answer {
  /** False: there is no such object. */
  readonly found: boolean;
  readonly body: Buffer;
  /** The storage's own clock, in ms since 1970; null where it does not tell. */
  readonly at: number | null;
}

/** An error's body is XML of some 300 bytes. */
const maxErrorBytes = 16 * 1024;
const bytesPerMs = 64;
const longestWaitMs = 10_000;
const againCodes = new Set(['SlowDown', 'RequestTimeout', 'InternalError', 'ServiceUnavailable', 'OperationAborted']);

class TooLarge extends Error {}

interface Reply {
  readonly status: number;
  readonly body: Buffer;
  readonly at: number | null;
}

export class S3Requests {
  readonly pace: S3Pace;
  private readonly settings: S3Settings;
  /** Derived keys, by day. */
  private readonly keys = new Map<string, ArrayBuffer>();

  constructor(settings: S3Settings) {
    this.settings = settings;
    this.pace = { ...usualPace, ...settings.pace };
  }

  where(key: string): string {
    return `s3://${this.settings.bucket}/${key}`;
  }

  async send(request: S3Request): Promise<S3Answer> {
    const { attempts, firstWaitMs } = this.pace;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.once(request);
      if (!('failure' in outcome)) return outcome;
      if (!outcome.again || attempt >= attempts) throw outcome.failure;
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
      await sleep(waitMs / 2 + randomInt(Math.ceil(waitMs / 2) + 1));
    }
  }

  private async once(
    request: S3Request,
  ): Promise<S3Answer | { readonly failure: BackupError; readonly again: boolean }> {
    const where = this.where(request.key);
    let reply: Reply;
    try {
      reply = await this.exchange(request);
    } catch (cause) {
      if (cause instanceof TooLarge) {
        throw new BackupError(`${where} is damaged: it is larger than anything that was written.`, { cause });
      }
      // `fetch` rejects so when the way there or back fails (Fetch standard); anything else is a fault of ours.
      if (!(cause instanceof TypeError) && (cause as Error).name !== 'TimeoutError') throw cause;
      const message = `${this.settings.endpoint} could not be asked to ${request.verb} ${where}: ${reasonOf(cause)}.`;
      return { failure: new BackupError(message, { cause }), again: true };
    }
    const { status, body, at } = reply;
    if (status >= 200 && status < 300) return { found: true, body, at };
    const code = codeOf(body);
    const isMissing =
      status === 404 && (code === 'NoSuchKey' || request.method === 'HEAD' || request.method === 'DELETE');
    if (isMissing && code !== 'NoSuchBucket') return { found: false, body: Buffer.alloc(0), at };
    const again = status === 429 || (status >= 500 && status !== 507) || (code !== null && againCodes.has(code));
    return { failure: refusal(this.settings, { status, code, verb: request.verb, where }), again };
  }

  private async exchange({ method, key, query = {}, body, maxBytes }: S3Request): Promise<Reply> {
    const { endpoint, region, bucket, credentials } = this.settings;
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${endpoint}/${bucket}${key === '' ? '' : `/${key}`}${search.length === 0 ? '' : `?${search.join('&')}`}`;
    const hash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const headers = { 'x-amz-content-sha256': hash, 'accept-encoding': 'identity' };
    const about = { ...credentials, service: 's3', region, cache: this.keys };
    const signed = await new AwsV4Signer({ url, method, headers, ...about }).sign();
    const timeoutMs = this.pace.timeoutMs + Math.ceil(Math.max(maxBytes, body?.length ?? 0) / bytesPerMs);
    const response = await fetch(signed.url, {
      method,
      headers: signed.headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body && { body: new Uint8Array(body) }),
    });
    const bound = response.ok ? maxBytes : maxErrorBytes;
    const at = Date.parse(response.headers.get('date') ?? '');
    return { status: response.status, body: await readBounded(response, bound), at: Number.isNaN(at) ? null : at };
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early cancels the rest.
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) throw new TooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Of Node's own errors alone: nothing that the storage said. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  if (name === 'TimeoutError') return 'it did not answer in time';
  const code = cause?.code;
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') return 'the connection ended';
  return code ?? 'the connection ended';
}
