import { randomBytes } from 'node:crypto';
import { firstAnswer } from './first-answer.ts';
import { callGuest, GuestError, type GuestCall } from './call.ts';
import {
  defaultExecOutputBytes,
  guestdPort,
  maxFileBytes,
  maxJsonBytes,
  protocolVersion,
  type ClockRequest,
  type CpusRequest,
  type ExecRequest,
  type ExecResult,
  type GuestHealth,
  type LogChunk,
  type LogName,
  type RuntimeRequest,
  type SyncRequest,
} from './protocol.ts';

/**
 * The host's side of the protocol, for one guest. Every call is bounded by `timeoutMs` and by `signal`.
 * Rejects with `GuestError`, or with the signal's reason when it was the signal that ended the call.
 */
export interface GuestClient {
  health(options?: CallOptions): Promise<GuestHealth>;
  /** Polls `health` until it answers. */
  awaitHealth(options: CallOptions & { readonly timeoutMs: number }): Promise<GuestHealth>;
  setClock(options?: CallOptions): Promise<void>;
  setCpusOnline(online: number, options?: CallOptions): Promise<void>;
  sync(dropCaches: boolean, options?: CallOptions): Promise<void>;
  /** Ends the agent's runtime within `graceMs` and keeps it ended until `startRuntime` or a boot. The daemon of an older image answers 404. */
  stopRuntime(graceMs: number, options?: CallOptions): Promise<void>;
  startRuntime(options?: CallOptions): Promise<void>;
  exec(request: ExecRequest, options?: CallOptions): Promise<ExecResult>;
  writeFile(
    path: string,
    bytes: Uint8Array | string,
    file: { readonly mode: number; readonly owner: 'agent' | 'root' },
    options?: CallOptions,
  ): Promise<void>;
  /** Up to `maxFileBytes`. */
  readFile(path: string, options?: CallOptions): Promise<Uint8Array>;
  logs(name: LogName, offset: number, limitBytes: number, options?: CallOptions): Promise<LogChunk>;
}

export interface CallOptions {
  /** Default 10 s; `sync`, `writeFile` and `readFile` 60 s; `exec` and `stopRuntime` 10 s more than the request's own limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export { GuestError } from './call.ts';

/** A client for the daemon at `address` (the host's address of the guest). */
export function guestClient(address: string, port: number = guestdPort): GuestClient {
  return new HttpGuestClient(address, port);
}

const shortMs = 10_000;
const longMs = 60_000;
/** Room for a small JSON reply. */
const smallReplyBytes = 64 * 1024;
/** JSON writes a control character in six bytes. */
const jsonGrowth = 6;

class HttpGuestClient implements GuestClient {
  private readonly address: string;
  private readonly port: number;

  constructor(address: string, port: number) {
    this.address = address;
    this.port = port;
  }

  async health(options: CallOptions = {}): Promise<GuestHealth> {
    return healthFrom(await this.json('GET', '/v1/health', undefined, shortMs, smallReplyBytes, options));
  }

  async awaitHealth(options: CallOptions & { readonly timeoutMs: number }): Promise<GuestHealth> {
    return firstAnswer((signal) => this.health({ timeoutMs: options.timeoutMs, signal }), options);
  }

  async setClock(options: CallOptions = {}): Promise<void> {
    const body: ClockRequest = { unixMs: Date.now(), entropy: randomBytes(64).toString('base64') };
    await this.json('POST', '/v1/clock', body, shortMs, smallReplyBytes, options);
  }

  async setCpusOnline(online: number, options: CallOptions = {}): Promise<void> {
    const body: CpusRequest = { online };
    await this.json('POST', '/v1/cpus', body, shortMs, smallReplyBytes, options);
  }

  async sync(dropCaches: boolean, options: CallOptions = {}): Promise<void> {
    const body: SyncRequest = { dropCaches };
    await this.json('POST', '/v1/sync', body, longMs, smallReplyBytes, options);
  }

  async stopRuntime(graceMs: number, options: CallOptions = {}): Promise<void> {
    const body: RuntimeRequest = { run: false, graceMs };
    await this.json('POST', '/v1/runtime', body, graceMs + shortMs, smallReplyBytes, options);
  }

  async startRuntime(options: CallOptions = {}): Promise<void> {
    const body: RuntimeRequest = { run: true, graceMs: 0 };
    await this.json('POST', '/v1/runtime', body, shortMs, smallReplyBytes, options);
  }

  async exec(request: ExecRequest, options: CallOptions = {}): Promise<ExecResult> {
    const outputBytes = request.maxOutputBytes ?? defaultExecOutputBytes;
    const replyBytes = smallReplyBytes + 2 * jsonGrowth * outputBytes;
    return execResultFrom(
      await this.json('POST', '/v1/exec', request, request.timeoutMs + shortMs, replyBytes, options),
    );
  }

  async writeFile(
    path: string,
    bytes: Uint8Array | string,
    file: { readonly mode: number; readonly owner: 'agent' | 'root' },
    options: CallOptions = {},
  ): Promise<void> {
    const query = new URLSearchParams({ path, mode: file.mode.toString(8), owner: file.owner });
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    await this.call(
      { method: 'PUT', path: `/v1/files?${query.toString()}`, body, replyBytes: smallReplyBytes },
      longMs,
      options,
    );
  }

  async readFile(path: string, options: CallOptions = {}): Promise<Uint8Array> {
    const query = new URLSearchParams({ path });
    return this.call(
      { method: 'GET', path: `/v1/files?${query.toString()}`, replyBytes: maxFileBytes },
      longMs,
      options,
    );
  }

  async logs(name: LogName, offset: number, limitBytes: number, options: CallOptions = {}): Promise<LogChunk> {
    const query = new URLSearchParams({ name, offset: String(offset), limit: String(limitBytes) });
    const replyBytes = smallReplyBytes + jsonGrowth * limitBytes;
    return logChunkFrom(
      await this.json('GET', `/v1/logs?${query.toString()}`, undefined, shortMs, replyBytes, options),
    );
  }

  private async json(
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    defaultTimeoutMs: number,
    replyBytes: number,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    const request = { method, path, replyBytes, ...(body && { body: Buffer.from(JSON.stringify(body)) }) };
    const reply = await this.call(request, defaultTimeoutMs, options);
    let value: unknown;
    try {
      value = JSON.parse(reply.toString());
    } catch (error) {
      throw new GuestError(200, `the guest answered ${method} ${pathOnly(path)} with something that is not JSON`, {
        cause: error,
      });
    }
    if (typeof value !== 'object' || value === null) throw unexpected();
    return value as Record<string, unknown>;
  }

  private async call(
    request: Omit<GuestCall, 'address' | 'port' | 'timeoutMs' | 'signal'>,
    defaultTimeoutMs: number,
    options: CallOptions,
  ): Promise<Buffer> {
    const most = request.method === 'PUT' ? maxFileBytes : maxJsonBytes;
    if ((request.body?.byteLength ?? 0) > most) throw new GuestError(413, `a guest takes at most ${most} bytes`);
    return callGuest({
      ...request,
      address: this.address,
      port: this.port,
      timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
      ...(options.signal && { signal: options.signal }),
    });
  }
}

const pathOnly = (path: string): string => path.split('?')[0] ?? path;

/** A guest is not trusted: what it sends is checked before it is believed to have a shape. */
function unexpected(): GuestError {
  return new GuestError(200, 'the guest sent a reply of another shape than the protocol has');
}

function numberIn(reply: Record<string, unknown>, key: string): number {
  const value = reply[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unexpected();
  return value;
}

/** Null when an older daemon does not send it. */
function laterNumberIn(reply: Record<string, unknown>, key: string): number | null {
  return reply[key] === undefined || reply[key] === null ? null : numberIn(reply, key);
}

function stringIn(reply: Record<string, unknown>, key: string): string {
  const value = reply[key];
  if (typeof value !== 'string') throw unexpected();
  return value;
}

function healthFrom(reply: Record<string, unknown>): GuestHealth {
  return {
    protocol: protocolVersion,
    uptimeSeconds: numberIn(reply, 'uptimeSeconds'),
    cpusOnline: numberIn(reply, 'cpusOnline'),
    memoryTotalMib: numberIn(reply, 'memoryTotalMib'),
    memoryAvailableMib: laterNumberIn(reply, 'memoryAvailableMib'),
    oomKills: laterNumberIn(reply, 'oomKills'),
    diskFreeMib: laterNumberIn(reply, 'diskFreeMib'),
    diskTotalMib: laterNumberIn(reply, 'diskTotalMib'),
  };
}

function execResultFrom(reply: Record<string, unknown>): ExecResult {
  return {
    exitCode: reply['exitCode'] === null ? null : numberIn(reply, 'exitCode'),
    signal: reply['signal'] === null ? null : stringIn(reply, 'signal'),
    stdout: stringIn(reply, 'stdout'),
    stderr: stringIn(reply, 'stderr'),
    timedOut: reply['timedOut'] === true,
    truncated: reply['truncated'] === true,
  };
}

function logChunkFrom(reply: Record<string, unknown>): LogChunk {
  return { text: stringIn(reply, 'text'), nextOffset: numberIn(reply, 'nextOffset') };
}
