/** Error types of the service specification, section 7. */
export const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'authorization_error',
  'not_found_error',
  'rate_limit_error',
  'server_error',
] as const;
export type ErrorType = (typeof errorTypes)[number];

/** A code of errors. */
export interface ErrorKind {
  readonly status: number;
  /** Meaning of the code, for the reference. */
  readonly meaning: string;
}

const typesByStatus: Readonly<Record<number, ErrorType>> = {
  401: 'authentication_error',
  403: 'authorization_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** Returns the type of all errors with this status. */
export const errorTypeOf = (status: number): ErrorType =>
  typesByStatus[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
