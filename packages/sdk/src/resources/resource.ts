import type { CallOptions, IfMatch } from '../options.ts';
import { Pages } from '../http/page.ts';
import type { Call, Transport } from '../http/transport.ts';
import type { Query } from '../http/url.ts';
import type { Operations } from '../types.ts';

export type OperationId = keyof Operations;
export type QueryOf<Id extends OperationId> = Operations[Id]['query'];

type Given = CallOptions & IfMatch & { readonly query?: unknown };

/** The base of the nouns: it sends their requests. */
export abstract class Resource {
  protected readonly http: Transport;

  constructor(http: Transport) {
    this.http = http;
  }

  protected getJson<T>(path: string, options?: Given, query?: unknown): Promise<T> {
    return this.sendJson('GET', path, options, { query: query as Query });
  }

  /** A change whose operation takes an Idempotency-Key. */
  protected postJson<T>(path: string, body: unknown, options?: Given, more?: Partial<Call>): Promise<T> {
    return this.sendJson('POST', path, options, { body: body ?? {}, isKeyed: true, ...more });
  }

  protected sendJson<T>(method: string, path: string, options: Given = {}, more: Partial<Call> = {}): Promise<T> {
    const { call, rest } = split(options);
    const query = { ...rest, ...more.query };
    return this.http.json<T>({ method, path, ...more, headers: headersOf(options, more.headers), query }, call);
  }

  protected pagesOf<Body extends { readonly data: readonly unknown[] }>(
    path: string,
    options: Given = {},
    query: unknown = {},
  ): Pages<Body> {
    return new Pages<Body>((cursor) =>
      this.getJson(path, options, { ...(query as Query), ...(cursor !== undefined && { cursor }) }),
    );
  }
}

/** Options of the call, and the parameters of the query that stand beside them. */
export function split(options: Given): { readonly call: CallOptions; readonly rest: Query } {
  const { signal, timeoutMs, maxRetries, idempotencyKey, headers, ifMatch: _, query, ...beside } = options;
  return {
    call: { signal, timeoutMs, maxRetries, idempotencyKey, headers },
    rest: { ...beside, ...(query as Query | undefined) },
  };
}

const headersOf = ({ ifMatch }: IfMatch, more: Call['headers']): Call['headers'] =>
  ifMatch === undefined ? more : { ...more, 'if-match': ifMatch };
