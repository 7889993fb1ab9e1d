import type { ErrorKind } from '../error-kind.ts';

export const hookErrors = {
  hook_not_found: { status: 404, meaning: 'The agent has no such hook.' },
} as const satisfies Readonly<Record<string, ErrorKind>>;
