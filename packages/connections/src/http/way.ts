/** The context of a guest's request on its way to a connection's server and back. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Outbound } from '@lodge/egress';
import type { ConnectionRow } from '@lodge/ports';
import type { CallBounds } from '../bounds.ts';
import type { Budget } from '../budget.ts';
import type { Access } from '../oauth/access.ts';
import type { Credentials } from '../secret/credentials.ts';
import type { Target } from './target.ts';

export interface Forwarding {
  readonly row: ConnectionRow;
  readonly target: Target;
  /** Gives others than `credentials` where the server refuses these. */
  readonly access: Access;
  readonly credentials: Credentials;
  readonly body: Buffer | null;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
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
