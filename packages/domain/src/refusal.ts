import type { ErrorCode } from './errors.ts';

/** The facts of a refusal beside its code and its message. */
export interface RefusalDetails extends ErrorOptions {
  /** The agent whose record the client should look at. */
  readonly agentId?: string | undefined;
  /** Seconds after which another attempt may help, when known. */
  readonly retryAfterSeconds?: number | undefined;
  /**
   * Set to false when the client must not repeat the request automatically, because it may have acted before it failed, or
   * would fail again.
   */
  readonly mayRepeat?: false;
}

/** Thrown when a request is refused, with a code of the table and a public message. `cause` is only for the operator. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly agentId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly mayRepeat: boolean;
  constructor(code: ErrorCode, message: string, details: RefusalDetails = {}) {
    super(message, details);
    this.name = 'Refusal';
    this.code = code;
    this.agentId = details.agentId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.mayRepeat = details.mayRepeat ?? true;
  }
}
