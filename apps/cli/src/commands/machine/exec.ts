/** `lodge exec`: a command in an agent's machine, with its output as it comes and its exit code as its own. */
import type { ExecRequest } from '@lodge/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes, usageError } from '../../failure.ts';
import type { On, Run } from '../../run.ts';
import { readStdinBytes } from '../../terminal/prompt.ts';
import { SafeStream } from '../../terminal/safe.ts';
import { given, integer, pairs } from '../../values.ts';

interface ExecOptions {
  readonly user?: 'agent' | 'root';
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout?: number;
  readonly stdin?: true;
  readonly wake?: true;
}

const maxSeconds = 3600;
/** The API takes no more as the input of a command. */
const maxInputBytes = 1024 * 1024;
/** A shell reports 128 and the signal's number for a command that a signal ended. */
const signals: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGTERM: 15,
};
const timedOut = 124;

export default function exec(command: Command, on: On): void {
  command
    .argument(...agentArgument)
    .argument('<command...>', 'the program and its arguments, behind --; or one text for a shell')
    .addOption(new Option('--user <user>', 'who runs it; root is written to the audit log').choices(['agent', 'root']))
    .option('--cwd <path>', 'the folder it begins in; the workspace otherwise')
    .option('-e, --env <name=value>', 'a variable; several times for several', pairs)
    .option('--timeout <seconds>', 'it is ended after so long', integer(1, maxSeconds))
    .option('-i, --stdin', 'give it what comes on stdin, up to 1 MiB')
    .option('--wake', 'start the agent where it is stopped');
  examples(
    command,
    ['lodge exec ada -- ls -l notes', 'run a program'],
    ["lodge exec ada 'wc -l *.md | sort -n'", 'run a line of shell'],
    ['lodge exec ada -i -- python3 - < script.py', 'run a local script there'],
  ).action(on(runCommand));
}

async function runCommand(run: Run, options: ExecOptions, agent: string, words: readonly string[]): Promise<void> {
  const { user, cwd, env, timeout, stdin, wake } = options;
  const input = stdin ? await inputOf(run) : undefined;
  const text = words.length === 1 && /\s/.test(words[0]!) ? { command: words[0]! } : { argv: words };
  const body: ExecRequest = { ...text, ...given({ user, cwd, env, timeout_seconds: timeout, stdin: input }) };
  if (words[0] === '') throw usageError('The command is empty.');
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodge();
  const screens = { stdout: new SafeStream(), stderr: new SafeStream() };
  const call = { ...run.call, ...(wake && { wake: true }) };
  for await (const told of lodge.exec.stream(id, body, call)) {
    if (told.event !== 'exit') {
      if (run.out.isJson) run.out.item(told, () => '');
      else write(run, told.event, screens[told.event].push(told.data.text), told.data.text);
      continue;
    }
    for (const name of ['stdout', 'stderr'] as const) write(run, name, screens[name].end(), '');
    if (run.out.isJson) run.out.item(told, () => '');
    return end(run, told.data);
  }
}

async function inputOf(run: Run): Promise<string> {
  const tooLong = `stdin has more than ${maxInputBytes} bytes.`;
  return (await readStdinBytes(run.signal, maxInputBytes, tooLong)).toString('utf8');
}

/** A terminal gets text without control sequences. A pipe gets what the command wrote. */
function write(run: Run, name: 'stdout' | 'stderr', safe: string, raw: string): void {
  if (name === 'stdout') run.out.write(run.out.isTty ? safe : raw);
  else run.out.writeError(run.out.isErrTty ? safe : raw);
}

interface End {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly timed_out: boolean;
  readonly truncated: boolean;
}

function end(run: Run, { exit_code: code, signal, timed_out: isLate, truncated }: End): void {
  if (truncated && !run.out.isJson) run.out.note('There was more output than Lodge passes on.');
  if (isLate && !run.out.isJson) run.out.note('The command was ended: it took too long (--timeout).');
  if (code === null && !isLate && signal === null) throw new CommandError(exitCodes.failure, 'The command has no end.');
  process.exitCode = isLate ? timedOut : (code ?? 128 + (signals[signal!] ?? 0));
}
