import { textBounds, textReplyBounds } from '@lodge/domain';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { browserOf, type GuestBrowser } from './browser.ts';
import { firstAnswer } from './first-answer.ts';
import { collectExec, execEvents, type ExecEvent } from './exec-events.ts';
import { execResultFrom, healthFrom, logChunkFrom } from './shape.ts';
import { openTerminal, type GuestTerminal, type TerminalHandlers } from './terminal.ts';
import { stallMs, Transport, type CallOptions, type Claim, type Guest } from './transport.ts';
import { uploadsOf, type GuestUploads } from './uploads.ts';
import { workspaceOf, type GuestWorkspace } from './workspace.ts';
import {
  defaultExecOutputBytes,
  maxFileBytes,
  type ClockRequest,
  type CpusRequest,
  type ExecRequest,
  type ExecResult,
  type GuestHealth,
  type LogChunk,
  type LogName,
  type RuntimeRequest,
  type SyncRequest,
  type TerminalWanted,
} from './protocol.ts';

export { GuestError, ReplyTooLongError } from './call.ts';
export type { GuestBrowser } from './browser.ts';
export type { ExecEvent } from './exec-events.ts';
export type { GuestTerminal, TerminalHandlers } from './terminal.ts';
export type { CallOptions, Guest } from './transport.ts';
export type { GuestUploads } from './uploads.ts';
export { isUnknownRoute, type Content, type GuestWorkspace, type Part } from './workspace.ts';

export function guestClient(guest: Guest): GuestClient {
  return new HttpGuestClient(guest);
}

/** The values that a resumed guest receives beside the time. */
export type Beginning = Pick<ClockRequest, 'identity' | 'goOn'>;

/** The credential of a guest that has none. */
export const noCredential = (): Promise<null> => Promise.resolve(null);

/** A time that took longer than this to be set is late by as much. A guest that has answered once answers sooner. */
const lateMs = 100;
/**
 * A repeated time may also be late on a slow host that works off earlier attempts. It is set again, at most `maxRepeats`
 * times.
 */
const lateAgainMs = 400;
const maxRepeats = 4;
/** Bound on the output of the host's own commands, unless they ask for another. */
const ownExecOutputBytes = 64 * 1024;

class HttpGuestClient {
  readonly workspace: GuestWorkspace;
  readonly uploads: GuestUploads;
  readonly browser: GuestBrowser;
  /** Factor by which the guest's own work may take longer (`Guest.pace`). */
  readonly pace: number;
  private readonly transport: Transport;

  constructor(guest: Guest) {
    this.pace = guest.pace ?? 1;
    this.transport = new Transport(guest);
    this.workspace = workspaceOf(this.transport);
    this.uploads = uploadsOf(this.transport);
    this.browser = browserOf(this.transport);
  }

  async health(options: CallOptions = {}): Promise<GuestHealth> {
    return healthFrom(await this.transport.json('GET', '/v1/health', undefined, options));
  }

  /** Polls `health` until it answers. */
  async awaitHealth(options: CallOptions & { readonly timeoutMs: number }): Promise<GuestHealth> {
    return firstAnswer((signal) => this.health({ timeoutMs: options.timeoutMs, signal }), options);
  }

  /**
   * Sets the clock. It may carry a claim, which costs no call of its own, because this is the first call to every resumed
   * guest.
   */
  async setClock({ identity, goOn, ...options }: CallOptions & Claim & Beginning = {}): Promise<void> {
    const body: ClockRequest = {
      unixMs: Date.now(),
      entropy: randomBytes(64).toString('base64'),
      ...(identity && { identity }),
      ...(goOn !== undefined && { goOn }),
    };
    await this.transport.json('POST', '/v1/clock', body, options);
  }

  /** Repeats `setClock` until it is answered, and a few times more while the time took long to arrive. */
  async awaitClock(options: CallOptions & Claim & Beginning & { readonly timeoutMs: number }): Promise<void> {
    const { signal: _, ...attempt } = options;
    const began = performance.now();
    await firstAnswer((signal) => this.setClock({ ...attempt, signal }), options);
    let tookMs = performance.now() - began;
    if (tookMs <= lateMs) return;
    for (let repeat = 0; repeat < maxRepeats && (repeat === 0 || tookMs > lateAgainMs); repeat += 1) {
      const calledAt = performance.now();
      await this.setClock(options);
      tookMs = performance.now() - calledAt;
    }
  }

  /** Freezes the guest: only its daemon runs until the next `setClock`. The daemon of an older image answers 404. */
  async freeze(options: CallOptions = {}): Promise<void> {
    await this.transport.json('POST', '/v1/freeze', {}, options);
  }

  async setCpusOnline(online: number, options: CallOptions = {}): Promise<void> {
    const body: CpusRequest = { online };
    await this.transport.json('POST', '/v1/cpus', body, options);
  }

  async sync(dropCaches: boolean, options: CallOptions = {}): Promise<void> {
    const body: SyncRequest = { dropCaches };
    await this.transport.json('POST', '/v1/sync', body, options, this.transport.longMs);
  }

  /**
   * Ends the agent's runtime within `graceMs` and keeps it ended until `startRuntime` or a boot. The daemon of an older
   * image answers 404.
   */
  async stopRuntime(graceMs: number, options: CallOptions = {}): Promise<void> {
    const body: RuntimeRequest = { run: false, graceMs };
    await this.transport.json('POST', '/v1/runtime', body, options, graceMs + this.transport.shortMs);
  }

  async startRuntime(options: CallOptions = {}): Promise<void> {
    const body: RuntimeRequest = { run: true, graceMs: 0 };
    await this.transport.json('POST', '/v1/runtime', body, options);
  }

  /** Runs a command with short output, which comes as JSON. `maxOutputBytes` is 64 KiB by default. */
  async exec(request: ExecRequest, options: CallOptions = {}): Promise<ExecResult> {
    const { maxOutputBytes = ownExecOutputBytes, timeoutMs } = request;
    const body: ExecRequest = { ...request, maxOutputBytes };
    const bounds = textReplyBounds(2 * maxOutputBytes);
    const withinMs = timeoutMs + this.transport.shortMs;
    return execResultFrom(await this.transport.json('POST', '/v1/exec', body, options, withinMs, bounds));
  }

  async writeFile(
    path: string,
    bytes: Uint8Array | string,
    file: { readonly mode: number; readonly owner: 'agent' | 'root' },
    options: CallOptions = {},
  ): Promise<void> {
    const query = new URLSearchParams({ path, mode: file.mode.toString(8), owner: file.owner });
    const body = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    await this.transport.call(
      { method: 'PUT', path: `/v1/files?${query.toString()}`, body, replyBytes: textBounds.guestReply.bytes },
      this.transport.longMs,
      options,
    );
  }

  /** Reads up to `maxBytes`, by default `maxFileBytes`. */
  async readFile(path: string, options: CallOptions & { readonly maxBytes?: number } = {}): Promise<Uint8Array> {
    const query = new URLSearchParams({ path });
    return this.transport.call(
      { method: 'GET', path: `/v1/files?${query.toString()}`, replyBytes: options.maxBytes ?? maxFileBytes },
      this.transport.longMs,
      options,
    );
  }

  async logs(name: LogName, offset: number, limitBytes: number, options: CallOptions = {}): Promise<LogChunk> {
    const query = new URLSearchParams({ name, offset: String(offset), limit: String(limitBytes) });
    const path = `/v1/logs?${query.toString()}`;
    const { shortMs } = this.transport;
    const reply = await this.transport.json('GET', path, undefined, options, shortMs, textReplyBounds(limitBytes));
    return logChunkFrom(reply, limitBytes);
  }

  /**
   * Runs a command like `exec` and yields its output as it comes. Resolves once the command runs. The last event is its end.
   */
  async execStream(
    request: ExecRequest,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<AsyncGenerator<ExecEvent>> {
    const body = Buffer.from(JSON.stringify(request));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs + this.transport.longMs)]);
    const call = { method: 'POST', path: '/v1/exec/stream', body } as const;
    const reply = await this.transport.stream(call, { signal: limit });
    return execEvents(reply, request.maxOutputBytes ?? defaultExecOutputBytes);
  }

  /** Runs a command with output of any bounded size, which comes as bytes, as from `execStream`. */
  async execCollected(request: ExecRequest, options: { readonly signal: AbortSignal }): Promise<ExecResult> {
    return collectExec(await this.execStream(request, options));
  }

  /** Opens a login shell in the workspace and resolves once it has its terminal. */
  openTerminal(
    terminal: TerminalWanted,
    handlers: TerminalHandlers,
    options: CallOptions = {},
  ): Promise<GuestTerminal> {
    return openTerminal(this.transport, terminal, handlers, options);
  }

  /** Returns a tar of whole folders (absolute paths), with owners, modes and links. An incomplete one fails. */
  readTree(paths: readonly string[], { signal }: { readonly signal: AbortSignal }): Promise<Readable> {
    return this.transport.stream({ method: 'GET', path: treePath(paths) }, { signal, stallMs });
  }

  /** Replaces these folders with the result of a `readTree` of the same paths. May be repeated. */
  async writeTree(
    paths: readonly string[],
    tar: Readable,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<void> {
    const reply = await this.transport.stream({ method: 'PUT', path: treePath(paths), body: tar }, { signal, stallMs });
    reply.resume();
  }
}

const treePath = (paths: readonly string[]): string =>
  `/v1/tree?${new URLSearchParams(paths.map((path): [string, string] => ['path', path])).toString()}`;

/**
 * The host's side of the protocol, for one guest. Every call is bounded by `timeoutMs` and by `signal`. A call rejects with
 * `GuestError`, or with the signal's reason when the signal ended it.
 */
export type GuestClient = Pick<HttpGuestClient, keyof HttpGuestClient>;
