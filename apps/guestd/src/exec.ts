import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  defaultExecOutputBytes,
  maxExecOutputBytes,
  maxExecTimeoutMs,
  type ExecRequest,
  type ExecResult,
} from '@lodge/guest';
import { Refusal, systemCode } from './errors.ts';
import { anyText, fieldsOf, integer, oneOf, optional, text, textList, textMap } from './fields.ts';
import { CommandRecords } from './command-records.ts';
import { killGroup, start } from './processes.ts';
import type { Settings } from './settings.ts';

const concurrentExecs = 16;
/** How long output may still come from processes that left the group, once the command has ended. */
const lastOutputMs = 250;

export class Executor {
  private readonly settings: Settings;
  private readonly records: CommandRecords;
  private running = 0;

  constructor(settings: Settings) {
    this.settings = settings;
    this.records = new CommandRecords(`${settings.root}/run/lodge/commands`);
    this.records.endAll();
  }

  /** Runs one command. `gone` aborts when nobody waits for the result any more. */
  async run(body: unknown, gone: AbortSignal): Promise<ExecResult> {
    const request = execRequest(body);
    if (this.running >= concurrentExecs) throw new Refusal(503, `${concurrentExecs} commands are running already`);
    this.running += 1;
    try {
      return await runOne(this.settings, this.records, request, gone);
    } finally {
      this.running -= 1;
    }
  }
}

function execRequest(body: unknown): ExecRequest {
  const fields = fieldsOf(body);
  const argv = textList(fields, 'argv');
  if (argv.length === 0 || argv[0] === '') throw new Refusal(400, 'argv must name a command');
  return {
    argv,
    timeoutMs: integer(fields, 'timeoutMs', 1, maxExecTimeoutMs),
    maxOutputBytes:
      optional(fields, 'maxOutputBytes', (f, key) => integer(f, key, 0, maxExecOutputBytes)) ?? defaultExecOutputBytes,
    user: optional(fields, 'user', (f, key) => oneOf(f, key, ['agent', 'root'])) ?? 'agent',
    stdin: optional(fields, 'stdin', anyText) ?? '',
    env: optional(fields, 'env', textMap) ?? {},
    ...(fields['cwd'] === undefined ? {} : { cwd: text(fields, 'cwd') }),
  };
}

async function runOne(
  settings: Settings,
  records: CommandRecords,
  request: ExecRequest,
  gone: AbortSignal,
): Promise<ExecResult> {
  const { argv, timeoutMs, user = 'agent', cwd, env = {}, stdin = '' } = request;
  const child = start(settings, { argv, user, env, stdio: 'pipe', ...(cwd !== undefined && { cwd }) });
  using _record = records.add(child.pid);
  const stdout = new Output(child.stdout, request.maxOutputBytes ?? defaultExecOutputBytes);
  const stderr = new Output(child.stderr, request.maxOutputBytes ?? defaultExecOutputBytes);
  child.stdin?.on('error', () => undefined); // A command need not read what it is given.
  child.stdin?.end(stdin);
  let timedOut = false;
  const kill = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  gone.addEventListener('abort', kill);
  try {
    const { exitCode, signal } = await ended(child, argv[0] ?? '');
    kill();
    await Promise.race([Promise.all([stdout.ended, stderr.ended]), sleep(lastOutputMs)]);
    const truncated = stdout.truncated || stderr.truncated;
    return { exitCode, signal, stdout: stdout.text(), stderr: stderr.text(), timedOut, truncated };
  } finally {
    clearTimeout(timer);
    gone.removeEventListener('abort', kill);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }
}

function ended(child: ChildProcess, name: string): Promise<{ exitCode: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
    child.once('error', (error) => {
      reject(
        new Refusal(
          400,
          `${name} could not be started (${systemCode(error) ?? 'unknown reason'}); is there such a command and folder?`,
        ),
      );
    });
  });
}

/** Keeps the first `limit` bytes of a stream and drains the rest. */
class Output {
  readonly ended: Promise<void>;
  truncated = false;
  private readonly chunks: Buffer[] = [];
  private room: number;

  constructor(stream: Readable | null, limit: number) {
    this.room = limit;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    stream?.on('data', (chunk: Buffer) => this.take(chunk));
    stream?.on('close', resolve);
    stream?.on('error', () => undefined);
  }

  text(): string {
    return Buffer.concat(this.chunks).toString();
  }

  private take(chunk: Buffer): void {
    if (chunk.length > this.room) this.truncated = true;
    if (this.room > 0) this.chunks.push(chunk.subarray(0, this.room));
    this.room -= Math.min(this.room, chunk.length);
  }
}
