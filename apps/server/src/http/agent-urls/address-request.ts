import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestScope } from '../../request-log.ts';
import type { AgentAddress } from './address.ts';

/** One request at an agent's address. */
export interface AddressRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upgrade: { readonly socket: Duplex; readonly head: Buffer } | null;
  readonly agent: AgentAddress;
  /** The client's address. */
  readonly address: string;
  readonly scope: RequestScope;
}
