/** A request of the stub, and its answer. */

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Aborts when the caller has ended the connection. */
  readonly gone: AbortSignal;
}

export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8', ...headers },
  body: JSON.stringify(value),
});

/** An error as Google's APIs have it. */
export const googleError = (
  code: number,
  reason: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer =>
  json(code, { error: { code, message, errors: [{ message, domain: 'global', reason }], status: reason } }, headers);
