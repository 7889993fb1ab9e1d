import type { ErrorCode } from './errors.ts';
import type { SkillFinding } from './skills/review/finding.ts';

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
  /** The findings of a review, with `skill_refused`. */
  readonly findings?: readonly SkillFinding[];
}

/** Thrown when a request is refused, with a code of the table and a public message. `cause` is only for the operator. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly agentId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly mayRepeat: boolean;
  readonly findings: readonly SkillFinding[] | undefined;
  constructor(code: ErrorCode, message: string, details: RefusalDetails = {}) {
    super(message, details);
    this.name = 'Refusal';
    this.code = code;
    this.agentId = details.agentId;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.mayRepeat = details.mayRepeat ?? true;
    this.findings = details.findings;
  }
}
