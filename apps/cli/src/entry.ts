/** The command behind its fast paths: parses, runs, and says how it ended by an exit code. */
import { CommanderError } from 'commander';
import { exitCodes, failureJson, failureLines, failureOf } from './failure.ts';
import { Interrupts } from './interrupts.ts';
import { groupOf, makeProgram, withHelp } from './program.ts';
import { Run, actionsOf } from './run.ts';
import { safeJson } from './terminal/safe.ts';

/** Something that hangs keeps the process no longer than this behind its end, in ms. */
const lingerMs = 300;

export async function main(given: readonly string[]): Promise<void> {
  const interrupts = new Interrupts();
  interrupts.listen();
  process.stdout.on('error', quietEnd);
  process.stderr.on('error', quietEnd);
  const run = new Run(process.env, interrupts, process.stdout, process.stderr);
  const end = (error: unknown): void => finish(fail(error, run, given));
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
  try {
    await parse(given, run);
    finish(interrupts.signal.aborted ? exitCodes.interrupted : (process.exitCode ?? exitCodes.ok));
  } catch (error) {
    end(error);
  }
}

async function parse(given: readonly string[], run: Run): Promise<void> {
  const args = withHelp(given);
  const wanted = groupOf(args);
  const program = await makeProgram({
    on: actionsOf(run),
    write: (text) => run.out.write(text),
    writeError: (text) => run.out.writeError(text),
    columns: run.out.columns,
    wanted: (name) => name === wanted,
  });
  if (wanted === undefined && args.length === 0) return program.outputHelp();
  await program.parseAsync(args, { from: 'user' });
}

/** Tells about a failure on stderr, and returns its exit code. */
function fail(error: unknown, run: Run, given: readonly string[]): number {
  // Commander has printed it already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const failure = failureOf(run.signal.aborted ? abortOf(error) : error, run.circumstances);
  if (run.out.isJson || (given.includes('--json') && !given.includes('--')))
    run.out.note(safeJson(failureJson(failure)));
  else for (const line of failureLines(failure)) run.out.note(line);
  if (process.env['LODGE_DEBUG'] && error instanceof Error) run.out.note(safeJson(error.stack ?? ''));
  return failure.exitCode;
}

/** After an interruption every failure is its consequence. */
const abortOf = (error: unknown): unknown =>
  Object.assign(new Error('Interrupted.', { cause: error }), { name: 'AbortError' });

/** The reader of a pipe, such as `head`, has what it wanted. */
function quietEnd(error: NodeJS.ErrnoException): void {
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failure);
}

function finish(exitCode: number | string): void {
  process.exitCode = exitCode;
  process.stdin.destroy();
  setInterval(() => {
    // Where pipes are written in the background, as on macOS, a slow reader gets all.
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
  }, lingerMs).unref();
}
