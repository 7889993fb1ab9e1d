import type { ErrorKind } from '../error-kind.ts';

export const confirmationErrors = {
  confirmation_not_found: { status: 404, meaning: 'The account has no such confirmation.' },
  confirmation_closed: {
    status: 409,
    meaning: 'Somebody has decided about this confirmation already, or it has expired; nothing was changed.',
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;
