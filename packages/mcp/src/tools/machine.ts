import type { LogEntry } from '@lodge/sdk';
import * as z from 'zod';
import { agentId, cursor, limitOf, time } from '../inputs.ts';
import { cutMiddle, cutText, maxResultBytes } from '../text.ts';
import { reads, theirs, tool } from '../tool.ts';
import type { Tool } from '../tool.ts';

const runCommand = tool({
  name: 'run_command',
  title: 'Run a command',
  description:
    "Runs a shell command in an agent's machine as the agent's own user, in its workspace, and returns its output. Only the beginning and the end of long output are shown. It may change or delete anything that the agent may.",
  scopes: ['agents:write'],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  doing: 'The command runs',
  input: z.strictObject({
    agent_id: agentId,
    command: z.string().min(1).max(100_000).describe('A line for bash.'),
    cwd: z.string().min(1).max(4096).optional().describe('Folder to run in; the workspace by default.'),
    stdin: z.string().max(200_000).optional().describe('What the command reads.'),
    timeout_seconds: z.int().min(1).max(600).default(60).describe('Then the command is killed.'),
  }),
  output: z.object({
    note: z.string(),
    exit_code: z.number().nullable().describe('null: a signal ended it.'),
    signal: z.string().nullable(),
    timed_out: z.boolean(),
    stdout: z.string(),
    stderr: z.string(),
    is_cut: z.boolean().describe('There was more output; write it to a file, and use read_file.'),
    duration_ms: z.number(),
  }),
  run: async ({ agent_id, ...body }, { lodge, signal }) => {
    const result = await lodge.exec.run(agent_id, body, { signal });
    const stdout = cutMiddle(result.stdout, maxResultBytes * 0.75);
    const stderr = cutMiddle(result.stderr, maxResultBytes * 0.25);
    const note = theirs("This is output of a program in the agent's machine.");
    const ended = result.timed_out
      ? `It was killed after ${body.timeout_seconds} s.`
      : result.exit_code === null
        ? `The signal ${result.signal} ended it.`
        : `Exit code ${result.exit_code}.`;
    const structured = {
      note,
      exit_code: result.exit_code,
      signal: result.signal,
      timed_out: result.timed_out,
      stdout: stdout.text,
      stderr: stderr.text,
      is_cut: stdout.isCut || stderr.isCut || result.truncated,
      duration_ms: result.duration_ms,
    };
    return {
      texts: [
        `${ended} ${note}`,
        `stdout:\n${stdout.text}`,
        ...(stderr.text === '' ? [] : [`stderr:\n${stderr.text}`]),
      ],
      structured,
    };
  },
});

const maxEntries = 200;

const readLogs = tool({
  name: 'read_logs',
  title: 'Read logs',
  description:
    "Reads an agent's log, newest first: what Lodge did with it and why (system), its machine's console, and its runtime's own log. It works in every status and shows why an agent failed.",
  scopes: ['agents:read'],
  annotations: reads,
  doing: 'Reads the log',
  input: z.strictObject({
    agent_id: agentId,
    level: z.enum(['debug', 'info', 'warn', 'error']).optional().describe('Only this level or a more severe one.'),
    source: z
      .enum(['system', 'console', 'gateway', 'channel', 'egress'])
      .optional()
      .describe('Only entries of this source.'),
    search: z.string().min(1).max(200).optional().describe('Only entries that contain this, in any case.'),
    since: time('Only entries from then on.'),
    until: time('Only entries before then.'),
    limit: limitOf(maxEntries, 100, 'entries'),
    cursor,
  }),
  run: async ({ agent_id, limit, ...query }, { lodge, signal }) => {
    const page = await lodge.agents.logs(agent_id, { limit, ...given(query) }, { signal });
    // No entry is left out, since the cursor is behind them all.
    const bytesOfEntry = Math.floor(maxResultBytes / limit) - 80;
    const lines = page.data.map((entry) => lineOf(entry, bytesOfEntry));
    const more = page.next_cursor === null ? 'These are all.' : `Read on with cursor ${page.next_cursor}.`;
    return { texts: [theirs(`${lines.length} log entries. ${more}`), lines.join('\n')] };
  },
});

function lineOf({ timestamp, level, source, message }: LogEntry, maxBytes: number): string {
  const { text, isCut } = cutText(message, maxBytes);
  // One entry is one line, whatever its writer put into it.
  return `${timestamp} ${level} ${source} ${text.replaceAll(/[\r\n]+/g, ' ⏎ ')}${isCut ? ' [… cut]' : ''}`;
}

/** Without what is undefined. */
export function given<T extends object>(query: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(pairs) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}

export const machineTools: readonly Tool[] = [runCommand, readLogs];
