/** A WebSocket as every platform has it, and as the package `ws` has it. */
export interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}
export type WebSocketClass = new (url: string, protocols?: string[]) => WebSocketLike;

export interface LodgeOptions {
  /** Where the service is, with or without `/v1`. By default `LODGE_URL`, or `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | undefined;
  /** By default `LODGE_API_KEY`. Without one, requests go as whoever is signed in to the page. */
  readonly apiKey?: string | undefined;
  /** Longest time without a byte of a reply; 60,000 by default. Calls that wait for something have longer ones. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is repeated that failed and may be repeated; 3 by default. */
  readonly maxRetries?: number | undefined;
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** For terminals where the platform has no WebSocket: that of the package `ws`, for example. */
  readonly webSocket?: WebSocketClass | undefined;
  /** Gives the session's token for changes, in a page of the service itself. */
  readonly csrfToken?: (() => string | undefined) | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, and what it began where that ends with its connection. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** The same key makes the same request once. Calls that may be repeated by themselves have one of their own. */
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a call with parameters in its query, given beside the others or in `query`. */
export type WithQuery<Query> = CallOptions & Query & { readonly query?: Query | undefined };

/** Options of a change that holds only for a version: the ETag of what was read. */
export interface IfMatch {
  readonly ifMatch?: string | undefined;
}

/** Options of a list that is followed. */
export interface FollowOptions extends CallOptions {
  /** Told true once the stream is open, and false when it has broken off: it is opened again by itself. */
  readonly onConnection?: ((isOpen: boolean) => void) | undefined;
}
