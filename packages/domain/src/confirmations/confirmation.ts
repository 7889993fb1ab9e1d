/** Confirmations: calls of an agent that wait for its owner's yes, and questions to the owner. */

export const confirmationKinds = ['call', 'question'] as const;
export type ConfirmationKind = (typeof confirmationKinds)[number];

/**
 * The status of a confirmation.
 *
 * - `pending`: nobody has decided.
 * - `allowed`: somebody said yes, and the call was not made yet.
 * - `sending`: the call is under way. It is never begun again.
 * - `done`: the call was made, or the question was answered.
 * - `denied`: somebody said no.
 * - `expired`: nobody decided in time.
 * - `failed`: it was allowed, and the call could not be made.
 * - `unknown`: the call may have been made: Lodge ended in its midst, or no answer came.
 */
export const confirmationStatuses = [
  'pending',
  'allowed',
  'sending',
  'done',
  'denied',
  'expired',
  'failed',
  'unknown',
] as const;
export type ConfirmationStatus = (typeof confirmationStatuses)[number];

export const confirmationDecisions = ['allow', 'deny'] as const;
export type ConfirmationDecision = (typeof confirmationDecisions)[number];

/**
 * - `none`: the decision is for this call alone.
 * - `conversation`: the same method and path, or tool, has the same decision in this conversation.
 * - `rule`: a rule of the agent says so from now on.
 */
export const confirmationMemories = ['none', 'conversation', 'rule'] as const;
export type ConfirmationMemory = (typeof confirmationMemories)[number];

/** The end of an allowed call. */
export type CallOutcome = Extract<ConfirmationStatus, 'done' | 'failed' | 'unknown'>;

export const confirmationBounds = {
  /** Confirmations of one agent that nobody has decided. */
  openOfAgent: 50,
  /** Bytes of a call as it is stored. */
  callBytes: 256 * 1024,
  /** Characters of the agent's words that are shown. */
  shownChars: 2_000,
  /** Characters of an answer that the agent is told in a turn. */
  answerChars: 8_000,
  reasonChars: 1_000,
  questionChars: 2_000,
  optionChars: 64,
  options: 5,
  /** Closed confirmations of one agent that are kept, and for how long. */
  kept: 1_000,
  keptMs: 30 * 86_400_000,
} as const;
