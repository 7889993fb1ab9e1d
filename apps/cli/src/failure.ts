/** Failures of a command: their exit codes, and sentences that say what to do next. */
import { safeLine } from './terminal/safe.ts';

/** Exit codes. They are documented in docs/guides/cli.md and do not change. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  denied: 3,
  notFound: 4,
  conflict: 5,
  limited: 6,
  unreachable: 7,
  pending: 8,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure that a person can read, with a hint at what to do next. Its texts are made harmless when they are shown. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(exitCode: ExitCode, message: string, hint?: string) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** Somebody called the command in a wrong way. */
export const usageError = (message: string, hint?: string): CommandError =>
  new CommandError(exitCodes.usage, message, hint);

export interface Failure {
  readonly exitCode: ExitCode;
  /** A stable word for scripts, such as `agent_not_found`. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly field?: string | undefined;
}

/** The fields of the SDK's errors that are read here. They are known by their shape, so that a failure loads nothing. */
interface Shape {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly requestId?: unknown;
  readonly field?: unknown;
  readonly retryAfterSeconds?: unknown;
  readonly cause?: unknown;
}

/** The circumstances of the call. */
export interface Circumstances {
  /** The server's address, where one was called. */
  readonly url?: string | undefined;
  /** The variable or option that the key came from, if it was not the context's. */
  readonly keyFrom?: string | undefined;
}

/** Says what happened, or null where somebody interrupted the command. */
export function failureOf(error: unknown, circumstances: Circumstances = {}): Failure {
  const shape = (typeof error === 'object' && error !== null ? error : {}) as Shape;
  const message = safeLine(text(shape.message) ?? String(error));
  if (error instanceof CommandError)
    return {
      exitCode: error.exitCode,
      code: wordOf(error.exitCode),
      message,
      hint: error.hint && safeLine(error.hint),
    };
  if (typeof shape.status === 'number') return apiFailure(shape, shape.status, message, circumstances);
  switch (shape.name) {
    case 'AbortError':
      return { exitCode: exitCodes.interrupted, code: 'interrupted', message: 'Interrupted.' };
    case 'StateError':
      return { exitCode: exitCodes.conflict, code: 'state', message };
    case 'ConnectionError':
    case 'TimeoutError':
      return {
        exitCode: exitCodes.unreachable,
        code: shape.name === 'TimeoutError' ? 'timeout' : 'unreachable',
        message,
        hint: `Is Lodge running${circumstances.url === undefined ? '' : ` at ${safeLine(circumstances.url)}`}? \`lodge context list\` shows where commands go.`,
      };
    default:
      return { exitCode: exitCodes.failure, code: 'failure', message };
  }
}

function apiFailure(shape: Shape, status: number, message: string, circumstances: Circumstances): Failure {
  const code = safeLine(text(shape.code) ?? 'error', 100);
  const requestId = text(shape.requestId);
  const field = text(shape.field);
  return {
    exitCode: exitCodeOf(status, code),
    code,
    message,
    status,
    hint: hintOf(status, code, shape, circumstances),
    ...(requestId !== undefined && { requestId: safeLine(requestId, 100) }),
    ...(field !== undefined && { field: safeLine(field, 200) }),
  };
}

function exitCodeOf(status: number, code: string): ExitCode {
  if (code === 'insufficient_capacity') return exitCodes.limited;
  if (status === 401 || status === 403) return exitCodes.denied;
  if (status === 404) return exitCodes.notFound;
  if (status === 409 || status === 412) return exitCodes.conflict;
  if (status === 429) return exitCodes.limited;
  if (status === 502 || status === 503 || status === 504) return exitCodes.unreachable;
  return status >= 400 && status < 500 ? exitCodes.usage : exitCodes.failure;
}

const hints: Readonly<Record<string, string>> = {
  agent_not_found: '`lodge agents list` shows your agents.',
  member_not_found: '`lodge members list AGENT` shows its members.',
  channel_not_found: '`lodge channels list AGENT` shows its channels.',
  connection_not_found: '`lodge connections list AGENT` shows its connections.',
  snapshot_not_found: '`lodge snapshots list` shows them.',
  schedule_not_found: '`lodge schedules list AGENT` shows its schedules.',
  hook_not_found: '`lodge hooks list AGENT` shows its hooks.',
  webhook_not_found: '`lodge webhooks list` shows your webhooks.',
  file_not_found: '`lodge files list AGENT` shows its files.',
  port_not_found: '`lodge ports list AGENT` shows its ports.',
  agent_not_running: 'Start it with `lodge agents start AGENT`, then try again.',
  agent_transitioning: 'Wait until that has ended: `lodge agents show AGENT`. Then try again.',
  agent_not_resumable: 'Start it with `lodge agents start AGENT`.',
  agent_outdated: 'Upgrade it with `lodge agents upgrade AGENT`.',
  precondition_failed: 'Look at it again, then repeat the change.',
  quota_exceeded: '`lodge limits` shows your quotas.',
  spend_limit_exceeded: '`lodge limits` shows what was spent, and when the window ends.',
  insufficient_capacity: 'Stop or delete agents that nobody needs, then try again.',
  provisioning_failed: '`lodge logs AGENT` says why.',
  agent_unavailable: 'Try again. `lodge logs AGENT` may say why; `lodge agents restart AGENT` starts it afresh.',
  insufficient_scope: 'Sign in with a key that has this scope: `lodge login`.',
  internal_error: "Try again. The operator finds the cause in Lodge's log by the request's id.",
};

function hintOf(status: number, code: string, shape: Shape, { keyFrom }: Circumstances): string | undefined {
  if (status === 401 && code !== 'invalid_signature')
    return keyFrom === undefined
      ? 'Sign in with `lodge login`.'
      : `The key came from ${keyFrom}. Check it, or sign in with \`lodge login\`.`;
  if (code === 'rate_limit_exceeded') {
    const seconds = shape.retryAfterSeconds;
    return typeof seconds === 'number' ? `Try again in ${Math.ceil(seconds)} s.` : 'Try again later.';
  }
  return Object.hasOwn(hints, code) ? hints[code] : undefined;
}

function wordOf(exitCode: ExitCode): string {
  const found = Object.entries(exitCodes).find(([, code]) => code === exitCode);
  return (found?.[0] ?? 'failure').replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Says a failure to a person, in lines. */
export function failureLines({ message, hint, requestId, field }: Failure): string[] {
  const named = field !== undefined && !message.includes(field) ? `${message} (field ${field})` : message;
  return [
    `Error: ${named}`,
    ...(hint === undefined ? [] : [`  ${hint}`]),
    ...(requestId === undefined ? [] : [`  Request id: ${requestId}`]),
  ];
}

/** A failure as scripts read it on stderr, with `--json`. */
export const failureJson = ({ exitCode, code, message, hint, status, requestId, field }: Failure): object => ({
  error: { code, message, hint, status, request_id: requestId, field, exit_code: exitCode },
});
