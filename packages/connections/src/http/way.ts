/** The context of a guest's request on its way to a connection's server and back. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { Outbound } from '@lodge/egress';
import type { ConnectionRow } from '@lodge/ports';
import type { CallBounds } from '../bounds.ts';
import type { Budget } from '../budget.ts';
import type { Access } from '../oauth/access.ts';
import type { Credentials } from '../secret/credentials.ts';
import type { Target } from './target.ts';

/** Takes an answer: the response to a guest, or the host's own memory. */
export interface AnswerSink extends Writable {
  readonly headersSent: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
}

/** The part of a request's context that its answer needs. */
export type Passing = Pick<Forwarding, 'row' | 'credentials' | 'method' | 'res'>;

export interface Forwarding {
  readonly row: ConnectionRow;
  readonly target: Target;
  /** Gives others than `credentials` where the server refuses these. */
  readonly access: Access;
  readonly credentials: Credentials;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | null;
  /** Whether a redirect may lead to a path: none leads round a rule. */
  readonly isFree: (path: string) => boolean;
  readonly res: AnswerSink;
  /** Aborts when the guest has left, or the host ends. */
  readonly signal: AbortSignal;
}

export interface Way {
  readonly outbound: Outbound;
  readonly privateAddresses: boolean;
  readonly bounds: CallBounds;
  readonly budget: Budget;
  /** Reports an answer that contained the connection's credential. Never rejects. */
  readonly echoed: (row: ConnectionRow) => Promise<void>;
}
