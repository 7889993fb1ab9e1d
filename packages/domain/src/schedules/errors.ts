import type { ErrorKind } from '../error-kind.ts';

export const scheduleErrors = {
  schedule_not_found: { status: 404, meaning: 'The agent has no such schedule.' },
  schedule_running: { status: 409, meaning: 'A run of the schedule waits or is under way; its runs never overlap.' },
} as const satisfies Readonly<Record<string, ErrorKind>>;
