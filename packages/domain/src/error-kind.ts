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
  readonly type: ErrorType;
  /** Meaning of the code, for the reference. */
  readonly meaning: string;
}
