/**
 * A process with a terminal of its own. Node opens the terminal's controlling side; what needs system calls that Node does not
 * offer is done by a few lines of Perl (it is in every Debian), which then become the command: as the leader of a session, its
 * first open of the other side makes that its controlling terminal.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import type { TerminalWanted } from '@lodge/guest';
import { environments, start } from './processes.ts';
import type { Settings } from './settings.ts';
import { workspaceOf } from './workspace/walk.ts';

/** TIOCSPTLCK, TIOCGPTN and TIOCSWINSZ of ioctl_tty(2). Perl has the group list set along with the effective group. */
const program = String.raw`
my ($rows, $columns, $uid, $gid, @command) = @ARGV;
open(my $control, '+<&=', 3) or die "control: $!\n";
my ($unlocked, $number) = (pack('i', 0), pack('I', 0));
ioctl($control, 0x40045431, $unlocked) or die "unlock: $!\n";
ioctl($control, 0x80045430, $number) or die "number: $!\n";
my $path = '/dev/pts/' . unpack('I', $number);
open(my $terminal, '+<', $path) or die "$path: $!\n";
ioctl($terminal, 0x5414, pack('S4', $rows, $columns, 0, 0)) or die "size: $!\n";
chown($uid, -1, $path);
print STDERR "$path\n";
close($control);
open(STDIN, '<&', $terminal); open(STDOUT, '>&', $terminal); open(STDERR, '>&', $terminal);
close($terminal);
$) = "$gid $gid"; $( = $gid; ($<, $>) = ($uid, $uid);
exec { $command[0] } @command;
die "$command[0]: $!\n";
`;

const shell = ['/bin/bash', '-l'];
const startWithinMs = 20_000;

export interface TerminalChild {
  readonly process: ChildProcess;
  /** What is typed goes in, what is shown comes out. */
  readonly control: ReadStream;
  /** `/dev/pts/<n>`. */
  readonly path: string;
}

/** A login shell of `user` in a new terminal, in the workspace; resolves once it has it. */
export async function startTerminal(
  settings: Settings,
  { columns, rows, term, user }: Required<TerminalWanted>,
): Promise<TerminalChild> {
  const fd = openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY);
  const { uid, gid } = user === 'root' ? { uid: 0, gid: 0 } : settings.agent;
  const numbers = [rows, columns, uid, gid].map(String);
  const child = start(settings, {
    argv: ['/usr/bin/perl', '-e', program, ...numbers, ...shell],
    user: 'root',
    cwd: workspaceOf(settings),
    env: { ...environments[user], SHELL: shell[0]!, TERM: term },
    stdio: ['ignore', 'ignore', 'pipe', fd],
  });
  try {
    const path = await firstLine(child);
    return { process: child, control: new ReadStream(fd), path };
  } catch (error) {
    child.kill('SIGKILL');
    closeSync(fd);
    throw error;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const timer = setTimeout(() => child.kill('SIGKILL'), startWithinMs);
  const failed = Promise.withResolvers<never>();
  child.once('error', failed.reject);
  const read = async (): Promise<string> => {
    let text = '';
    for await (const chunk of child.stderr!) {
      text += String(chunk);
      if (text.includes('\n')) break;
    }
    const line = text.trim();
    if (!/^\/dev\/pts\/\d+$/.test(line)) throw new Error(`no terminal: ${line}`);
    return line;
  };
  return Promise.race([read(), failed.promise]).finally(() => clearTimeout(timer));
}
