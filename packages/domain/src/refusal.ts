import type { ErrorCode } from './errors.ts';

/** What a refusal says beside its code and its message. */
export interface RefusalDetails extends ErrorOptions {
  /** The agent whose record the client should know of. */
  readonly agentId?: string | undefined;
  /** When trying again may help, where that is known. */
  readonly retryAfterSeconds?: number | undefined;
  /** False: the request must not be repeated by itself, for it may have acted before it failed, or would fail again. */
  readonly mayRepeat?: false;
}

/** Why a request comes to nothing: a code of the table and a public message. `cause` is for the operator alone. */
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
