/**
 * `lodge shell`: a shell on an agent's machine, on this terminal. It is the one command that passes the machine's control
 * sequences on: a shell is nothing without them.
 */
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { CommandError, exitCodes, usageError } from '../../failure.ts';
import type { On, Run } from '../../run.ts';
import { safeLine } from '../../terminal/safe.ts';

interface ShellOptions {
  readonly user?: 'agent' | 'root';
  readonly wake?: true;
}

/** Resets attributes, leaves the other screen, shows the cursor, and ends reports of the mouse and of pastes. */
const restored = '\x1b[0m\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l';

export default function shell(command: Command, on: On): void {
  command
    .argument(...agentArgument)
    .addOption(new Option('--user <user>', 'whose shell; root is written to the audit log').choices(['agent', 'root']))
    .option('--wake', 'start the agent where it is stopped')
    .addHelpText(
      'after',
      "\nThe machine's control sequences reach your terminal: open shells of agents that you trust that far.",
    );
  examples(command, ['lodge shell ada', 'look around in her machine']).action(on(openShell));
}

async function openShell(run: Run, { user, wake }: ShellOptions, agent: string): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw usageError('A shell needs a terminal.', 'Run one command with `lodge exec AGENT -- COMMAND`.');
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodgeWithSockets();
  const term = (run.env['TERM'] ?? '').replaceAll(/[^\w.+-]/g, '').slice(0, 40) || 'xterm-256color';
  const size = { cols: stdout.columns, rows: stdout.rows };
  const session = await lodge.terminal.open(
    id,
    { ...size, term, ...(user && { user }), ...(wake && { wake: true }) },
    run.call,
  );
  const resize = (): void => session.resize(stdout.columns, stdout.rows);
  const type = (data: Buffer): void => session.write(data);
  stdin.setRawMode(true);
  stdin.on('data', type).resume();
  stdout.on('resize', resize);
  try {
    for await (const chunk of session.output) if (!stdout.write(chunk)) await drained(stdout);
  } finally {
    stdin.off('data', type).pause();
    stdout.off('resize', resize);
    stdin.setRawMode(false);
    session.close();
  }
  const { exitCode, reason } = await session.closed;
  if (exitCode === undefined) {
    run.out.write(`${restored}\n`);
    throw new CommandError(
      exitCodes.unreachable,
      `The shell has ended: ${safeLine(reason)}.`,
      'What ran in it has ended too. Open another with `lodge shell`.',
    );
  }
  process.exitCode = exitCode ?? exitCodes.failure;
}

const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.once('drain', resolve);
  });
