import type { ErrorKind } from '../error-kind.ts';

export const connectionErrors = {
  connection_not_found: { status: 404, meaning: 'The agent has no such connection.' },
  oauth_not_configured: { status: 409, meaning: 'The connection has no OAuth: put it with `auth`.' },
  oauth_not_possible: {
    status: 409,
    meaning: "The connection's server, or its authorization server, lets no consent begin; the message says why.",
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;
