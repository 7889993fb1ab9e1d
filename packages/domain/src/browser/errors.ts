import type { ErrorKind } from '../error-kind.ts';

export const browserErrors = {
  browser_not_running: {
    status: 409,
    meaning: "The agent's browser does not run: it has none, nothing has used it lately, or it cannot be started.",
  },
} as const satisfies Readonly<Record<string, ErrorKind>>;
