/**
 * System calls that Node does not offer, made by a small Perl process that stays (Perl is in every Debian). Starting a process
 * takes 60 to 250 ms in an emulated guest and a clone's clock is set on the way of every create; asking a running one takes 10.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { TerminalSize } from '@lodge/guest';

/** From the kernel's tables of system calls: that of x86-64, and that of all newer kinds, ARM's among them. */
const calls = process.arch === 'x64' ? { clockSettime: 227, sync: 162 } : { clockSettime: 112, sync: 81 };

/** RNDRESEEDCRNG is 0x5207 (random(4)), TIOCSWINSZ 0x5414, O_RDWR | O_NOCTTY 0x102. */
const program = String.raw`
$| = 1;
sub clock_set {
  my ($seconds, $nanoseconds, $entropy) = @_;
  open(my $random, '+<', '/dev/urandom') or return "urandom: $!";
  syswrite($random, pack('H*', $entropy)) or return "entropy: $!";
  my ($realtime, $none) = (0, 0);
  syscall(${calls.clockSettime}, $realtime, pack('qq', $seconds, $nanoseconds)) == 0 or return "clock: $!";
  ioctl($random, 0x5207, $none) or return "reseed: $!";
  return 'ok';
}
sub resize {
  my ($path, $rows, $columns) = @_;
  sysopen(my $terminal, $path, 0x102) or return "terminal: $!";
  ioctl($terminal, 0x5414, pack('S4', $rows, $columns, 0, 0)) or return "size: $!";
  return 'ok';
}
while (my $line = <STDIN>) {
  my ($call, @arguments) = split ' ', $line;
  if ($call eq 'clock') { print clock_set(@arguments), "\n"; }
  elsif ($call eq 'resize') { print resize(@arguments), "\n"; }
  elsif ($call eq 'sync') { syscall(${calls.sync}); print "ok\n"; }
  else { print "unknown\n"; }
}
`;

const answerWithinMs = 120_000;

export class Kernel {
  private child: ChildProcess | null = null;
  private readonly waiting: ((answer: string) => void)[] = [];

  /** The helper's process, where there is one. */
  get pids(): readonly number[] {
    return this.child?.pid === undefined ? [] : [this.child.pid];
  }

  /** Starts the helper now, so that the first call does not wait for it. */
  warm(): void {
    this.child ??= this.spawn();
  }

  /** Sets the real-time clock and makes the kernel's random generator forget its state in favour of one with `entropy` in it. */
  async setClock(unixMs: number, entropy: Uint8Array): Promise<void> {
    const seconds = Math.floor(unixMs / 1000);
    const nanoseconds = Math.round((unixMs - seconds * 1000) * 1e6);
    await this.ask(`clock ${seconds} ${nanoseconds} ${Buffer.from(entropy).toString('hex')}`);
  }

  /** sync(2): returns once everything dirty is on the disk. */
  async sync(): Promise<void> {
    await this.ask('sync');
  }

  /** TIOCSWINSZ of ioctl_tty(2): who runs in the terminal is told by SIGWINCH. */
  async resizeTerminal(path: string, { columns, rows }: TerminalSize): Promise<void> {
    await this.ask(`resize ${path} ${rows} ${columns}`);
  }

  private async ask(line: string): Promise<void> {
    this.child ??= this.spawn();
    const child = this.child;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.waiting.push(resolve);
    const timer = setTimeout(() => child.kill('SIGKILL'), answerWithinMs);
    child.stdin?.write(`${line}\n`);
    const answer = await promise;
    clearTimeout(timer);
    if (answer !== 'ok') throw new Error(`${line.split(' ')[0]} failed: ${answer}`);
  }

  private spawn(): ChildProcess {
    const child = spawn('/usr/bin/perl', ['-e', program], { stdio: ['pipe', 'pipe', 'ignore'] });
    createInterface({ input: child.stdout }).on('line', (answer) => this.waiting.shift()?.(answer));
    child.stdin.on('error', () => undefined); // Its end is seen by 'close'.
    const over = (why: string): void => {
      if (this.child !== child) return;
      this.child = null;
      for (const answer of this.waiting.splice(0)) answer(why);
    };
    child.once('error', (error) => over(error.message));
    child.once('close', () => over('the helper ended'));
    return child;
  }
}
