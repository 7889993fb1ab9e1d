/** One request to a server that somebody else chose, and its whole answer within bounds. */
import { isConnectFailure, PrivateAddressError } from '@lodge/egress';
import type { Outbound, OutboundRequest, OutboundResponse } from '@lodge/egress';
import { SourceFailure } from './source-failure.ts';

export interface FetchedFrom {
  readonly outbound: Outbound;
  readonly privateAddresses: boolean;
}

export interface Fetched {
  readonly status: number;
  readonly body: Buffer;
}

const mib = 2 ** 20;

/** Resolves with any answer but a redirect. Throws a `SourceFailure`. */
export async function fetchWhole(
  { outbound, privateAddresses }: FetchedFrom,
  request: Omit<OutboundRequest, 'headers'> & { readonly headers?: OutboundRequest['headers'] },
  maxBytes: number,
): Promise<Fetched> {
  try {
    const response = await outbound.send(
      { privateAddresses },
      { ...request, headers: { ...usualHeaders, ...request.headers } },
    );
    return { status: response.statusCode, body: await wholeOf(response, maxBytes) };
  } catch (error) {
    if (error instanceof SourceFailure) throw error;
    throw new SourceFailure(reasonOf(error), { cause: error });
  }
}

const usualHeaders = { 'user-agent': 'git/2 (Lodge)', 'accept-encoding': 'identity' };

async function wholeOf({ headers, statusCode, body }: OutboundResponse, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A body that is given up ends with an error, of which nobody has to hear.
  body.on('error', () => {});
  try {
    if (statusCode >= 300 && statusCode < 400)
      throw new SourceFailure('the server sends elsewhere, which is not followed');
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new SourceFailure('the answer is compressed');
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new SourceFailure(`the answer has more than ${Math.round(maxBytes / mib)} MiB`);
      chunks.push(chunk);
    }
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  if (error instanceof PrivateAddressError) return error.message;
  if (error instanceof Error && error.name === 'TimeoutError') return 'the server took too long';
  return isConnectFailure(error) ? 'the server was not reached' : 'the connection to the server broke off';
}
