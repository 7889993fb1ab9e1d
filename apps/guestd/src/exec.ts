import type { ChildProcess } from 'node:child_process';
import { PassThrough, type Readable } from 'node:stream';
import {
  defaultExecOutputBytes,
  encodeFrame,
  execFrame,
  maxExecOutputBytes,
  maxExecTimeoutMs,
  type ExecRequest,
  type ExecResult,
} from '@lodge/guest';
import type { CommandRecords } from './command-records.ts';
import { Refusal } from './errors.ts';
import { anyText, fieldsOf, integer, oneOf, optional, text, textList, textMap } from './fields.ts';
import { Output, writeTo } from './output.ts';
import { ended, killGroup, start, type End } from './processes.ts';
import type { Settings } from './settings.ts';

const concurrentExecs = 16;

type Take = (kind: number, chunk: Buffer) => Promise<void> | undefined;
type Outcome = Omit<ExecResult, 'stdout' | 'stderr'>;

export class Executor {
  private readonly settings: Settings;
  private readonly records: CommandRecords;
  private running = 0;

  constructor(settings: Settings, records: CommandRecords) {
    this.settings = settings;
    this.records = records;
  }

  /** Runs one command. `gone` aborts when nobody waits for the result any more. */
  async run(body: unknown, gone: AbortSignal): Promise<ExecResult> {
    const output = { [execFrame.stdout]: [] as Buffer[], [execFrame.stderr]: [] as Buffer[] };
    const outcome = await this.begin(execRequest(body), gone, (kind, chunk) => {
      output[kind as 0 | 1].push(chunk);
      return undefined;
    }).outcome;
    const textOf = (kind: 0 | 1): string => Buffer.concat(output[kind]).toString();
    return { ...outcome, stdout: textOf(execFrame.stdout), stderr: textOf(execFrame.stderr) };
  }

  /** Runs one command and gives frames of what it writes. Rejects when it could not be started. */
  async stream(body: unknown, gone: AbortSignal): Promise<Readable> {
    const frames = new PassThrough();
    // One that comes before anybody reads is given by what this function rejects with.
    frames.on('error', () => undefined);
    const { outcome, started } = this.begin(execRequest(body), gone, (kind, chunk) =>
      writeTo(frames, encodeFrame(kind, chunk), gone),
    );
    outcome.then(
      (end) => frames.end(encodeFrame(execFrame.exit, JSON.stringify(end))),
      (error: Error) => frames.destroy(error),
    );
    await Promise.race([started, outcome]);
    return frames;
  }

  private begin(
    request: ExecRequest,
    gone: AbortSignal,
    take: Take,
  ): { readonly outcome: Promise<Outcome>; readonly started: Promise<void> } {
    if (this.running >= concurrentExecs) throw new Refusal(503, `${concurrentExecs} commands are running already`);
    this.running += 1;
    const started = Promise.withResolvers<void>();
    const outcome = this.runOne(request, gone, { take, started: started.resolve }).finally(() => (this.running -= 1));
    return { outcome, started: started.promise };
  }

  private async runOne(
    request: ExecRequest,
    gone: AbortSignal,
    { take, started }: { readonly take: Take; readonly started: () => void },
  ): Promise<Outcome> {
    const { argv, timeoutMs, user = 'agent', cwd, env = {}, stdin = '' } = request;
    const child = start(this.settings, { argv, user, env, stdio: 'pipe', ...(cwd !== undefined && { cwd }) });
    child.once('spawn', started);
    using _record = this.records.add(child.pid);
    const limit = request.maxOutputBytes ?? defaultExecOutputBytes;
    const outputs = [
      new Output(child.stdout, limit, (chunk) => take(execFrame.stdout, chunk)),
      new Output(child.stderr, limit, (chunk) => take(execFrame.stderr, chunk)),
    ];
    child.stdin?.on('error', () => undefined); // A command need not read what it is given.
    child.stdin?.end(stdin);
    try {
      const { end, timedOut } = await endWithin(child, { name: argv[0] ?? '', timeoutMs, gone });
      await Promise.all(outputs.map((output) => output.settled(gone)));
      return { ...end, timedOut, truncated: outputs.some(({ truncated }) => truncated) };
    } finally {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    }
  }
}

/** The child's end, of which its whole group is part. */
async function endWithin(
  child: ChildProcess,
  { name, timeoutMs, gone }: { readonly name: string; readonly timeoutMs: number; readonly gone: AbortSignal },
): Promise<{ readonly end: End; readonly timedOut: boolean }> {
  let timedOut = false;
  const kill = (): void => {
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  gone.addEventListener('abort', kill);
  if (gone.aborted) kill();
  try {
    return { end: await ended(child, name), timedOut };
  } finally {
    kill();
    clearTimeout(timer);
    gone.removeEventListener('abort', kill);
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
