import type { IncomingHttpHeaders } from 'node:http';

/** Which provider API a request came in on. */
export type Wire = 'openai' | 'responses' | 'anthropic' | 'google';

/** Tokens a reply says it used. `input` excludes cached ones; each wire reports them in its own way. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Part of `output`. */
  readonly reasoning?: number;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** One answer. Everything is optional: an empty one is an empty text. */
export interface Reply {
  readonly text?: string;
  /** The text in the very pieces it is streamed in; instead of `text`. */
  readonly chunks?: readonly string[];
  readonly toolCalls?: readonly ToolCall[];
  /** The model's thoughts before it answers, as each API shows them. */
  readonly thinking?: string;
  /** The reply says nothing of what it used. */
  readonly noUsage?: boolean;
  /** Default: an estimate from the lengths. */
  readonly usage?: Usage;
  /** An error of this status instead, in the shape of the provider. */
  readonly status?: number;
  /** The error's message; default: the provider's usual one. */
  readonly message?: string;
  readonly retryAfterSeconds?: number;
  /** Response headers beside the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Pause before the response begins. */
  readonly delayMs?: number;
  /** Pause before every streamed piece but the first. */
  readonly intervalMs?: number;
  /** Awaited before piece `index` is sent; for tests that hold a stream at a point. */
  readonly beforeChunk?: (index: number) => Promise<void> | void;
  /** Cuts the connection after so many streamed pieces; not streaming: after half of the body. */
  readonly cutAfterChunks?: number;
  /** Cuts the connection after so many bytes of the body, streamed or not. */
  readonly cutAtByte?: number;
  /** Answers nothing, or nothing after the first streamed piece, until `release()`. */
  readonly hang?: 'at-once' | 'after-first-chunk';
  /** These bytes as they are, with `status` or 200. */
  readonly raw?: { readonly contentType: string; readonly body: string };
}

/** One request as the stub received it, and its outcome. */
export interface StubRequest {
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly rawBody: string;
  /** The parsed JSON body; undefined when there was none. */
  readonly body: any;
  readonly wire: Wire;
  /** The key it was given, wherever it stood. */
  readonly key: string | null;
  /** `model` in the body, or in Google's path. */
  readonly model: string;
  readonly stream: boolean;
  /** The user's last message, without OpenClaw's additions. */
  readonly lastUserText: string;
  /** Names of the tools that were offered. */
  readonly tools: readonly string[];
  /** When the client closed the connection before the answer was complete; null when it did not. */
  readonly clientClosedAt: Date | null;
  /** Resolves when the exchange is over: `finished`, `client closed`, or `cut` by a script. */
  readonly ended: Promise<'finished' | 'client closed' | 'cut'>;
  /** The usage in the answer; null for errors. */
  readonly usage: Usage | null;
}

/** A reply, or one made from the request, such as a call of a tool whose name the request gives. */
export type Answer = Reply | ((request: StubRequest) => Reply | Promise<Reply>);

/** A piece of a reply on a wire: pauses and cuts count the `paced` frames. */
export interface Frame {
  readonly text: string;
  readonly paced: boolean;
}

export interface WireFormat {
  stream(request: StubRequest, reply: Reply, usage: Usage): Frame[];
  json(request: StubRequest, reply: Reply, usage: Usage): unknown;
  error(status: number, message: string | undefined): unknown;
  /** Why the request is refused before anything else; null when it is fine. */
  refusal(request: StubRequest): { readonly status: number; readonly message: string } | null;
  /** Default 401. */
  readonly wrongKeyStatus?: number;
}

/** One answered request in the stub's own books. */
export interface LedgerEntry {
  readonly wire: Wire;
  readonly model: string;
  readonly key: string | null;
  readonly stream: boolean;
  /** The usage that a provider would bill: all of it, even if the answer was cut or did not report it. */
  readonly usage: Usage;
  /** Whether the whole answer said so. */
  readonly reported: boolean;
  readonly ended: Promise<'finished' | 'client closed' | 'cut'>;
}
