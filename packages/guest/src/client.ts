import type { ExecRequest, ExecResult, GuestHealth, LogChunk, LogName } from './protocol.ts';

/** The host's side of the protocol, for one guest. Every call is bounded by `timeoutMs` (default 10 s) and by `signal`. */
export interface GuestClient {
  health(options?: CallOptions): Promise<GuestHealth>;
  /** Polls `health` until it answers. */
  awaitHealth(options: CallOptions & { readonly timeoutMs: number }): Promise<GuestHealth>;
  setClock(options?: CallOptions): Promise<void>;
  setCpusOnline(online: number, options?: CallOptions): Promise<void>;
  sync(dropCaches: boolean, options?: CallOptions): Promise<void>;
  exec(request: ExecRequest, options?: CallOptions): Promise<ExecResult>;
  writeFile(
    path: string,
    bytes: Uint8Array | string,
    file: { readonly mode: number; readonly owner: 'agent' | 'root' },
    options?: CallOptions,
  ): Promise<void>;
  readFile(path: string, options?: CallOptions): Promise<Uint8Array>;
  logs(name: LogName, offset: number, limitBytes: number, options?: CallOptions): Promise<LogChunk>;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** The guest answered with an error, or spoke another protocol version. `status` is null when it did not answer. */
export class GuestError extends Error {
  readonly status: number | null;
  constructor(status: number | null, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GuestError';
    this.status = status;
  }
}

/** A client for the daemon at `address` (the host's address of the guest). */
export declare function guestClient(address: string, port?: number): GuestClient;
