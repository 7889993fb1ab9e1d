import type { ErrorKind } from '../error-kind.ts';

export const skillErrors = {
  skill_not_found: {
    status: 404,
    meaning: 'The account has no such skill, the skill no such version, or the agent does not use it.',
  },
  skill_in_use: { status: 409, meaning: 'An agent uses the skill; the message names such agents.' },
  skill_refused: {
    status: 422,
    meaning:
      'The review found something of severity `high`; `findings` of the error says what. Look at it, and send `accept_findings` to take the skill all the same.',
  },
  skill_source_failed: {
    status: 422,
    meaning: 'The repository or the hub could not be read; the message says why.',
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;
