/** Runs `lodge` as a process, as a person or a script does: with pipes, or on a terminal of its own. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after } from 'node:test';
import { bundleCommand } from '../../../scripts/cli/pack.ts';

const checkout = join(import.meta.dirname, '../../../apps/cli/src/main.ts');
const folder = await mkdtemp(join(tmpdir(), 'lodge-cli-bundle-'));
/** Bound on words that never come. Beside other work a command may take half a minute over its first. */
const patientMs = 60_000;
after(() => rm(folder, { recursive: true, force: true }));
let bundle: Promise<string> | undefined;

/** The program as it is packed, made once for a file of tests. */
export const packedProgram = (): Promise<string> => (bundle ??= bundleCommand(folder));

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** Given to stdin, which then ends. */
  readonly input?: string;
  readonly cwd?: string;
  /** Runs the checkout's command, which has its dependencies beside it, such as the keyring. */
  readonly isCheckout?: true;
}

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A person with a folder of settings of their own. */
export interface Person {
  readonly home: string;
  lodge(args: readonly string[], options?: Options): Promise<Result>;
  /** Begins a command with pipes. */
  begin(args: readonly string[], options?: Options): Running;
  /** Begins a command on a terminal of 80 columns. Its output is that of the screen, in which stdout and stderr are one. */
  atTerminal(args: readonly string[], options?: Options & { readonly columns?: number }): Running;
  remove(): Promise<void>;
}

/** `command` runs another `lodge` than the packed one. */
export async function newPerson(
  env: Readonly<Record<string, string>> = {},
  command?: readonly string[],
): Promise<Person> {
  const ran = command ?? [process.execPath, await packedProgram()];
  const home = await mkdtemp(join(tmpdir(), 'lodge-cli-'));
  const own = {
    PATH: process.env['PATH']!,
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    LODGE_KEYRING: 'off',
    ...env,
  };
  const envOf = (more: Options['env'] = {}): Record<string, string> => ({ ...own, ...more });
  const begun: Running[] = [];
  const started = (running: Running): Running => {
    begun.push(running);
    return running;
  };
  const person: Person = {
    home,
    begin(args, { env, input, cwd = home, isCheckout } = {}) {
      const [program, ...words] = [...(isCheckout ? [process.execPath, checkout] : ran), ...args];
      const child = spawn(program!, words, { cwd, env: envOf(env), stdio: 'pipe' });
      child.stdin.on('error', () => undefined);
      if (input !== undefined) child.stdin.end(input);
      return started(new Running(child));
    },
    lodge(args, options = {}) {
      return person.begin(args, { input: '', ...options }).ended();
    },
    atTerminal(args, { env, cwd = home, columns = 80 } = {}) {
      const words = [...ran, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
      const line = `stty cols ${columns} rows 40 && exec ${words}`;
      const child = spawn('script', ['-qefc', line, '/dev/null'], {
        cwd,
        env: envOf({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
        stdio: 'pipe',
      });
      child.stdin.on('error', () => undefined);
      return started(new Running(child));
    },
    remove() {
      // A test that failed leaves its command behind.
      for (const running of begun) running.kill('SIGKILL');
      return rm(home, { recursive: true, force: true });
    },
  };
  return person;
}

/** A command that goes on. */
export class Running {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close');
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
  }

  write(text: string): void {
    this.#child.stdin!.write(text);
  }

  end(): void {
    this.#child.stdin!.end();
  }

  /** Closes the reading end of stdout. */
  closeOutput(): void {
    this.#child.stdout!.destroy();
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves as soon as stdout has the text. */
  says(text: string | RegExp): Promise<void> {
    return this.#has(() => this.stdout, text);
  }

  /** Resolves as soon as stderr has the text. */
  tells(text: string | RegExp): Promise<void> {
    return this.#has(() => this.stderr, text);
  }

  async #has(said: () => string, text: string | RegExp): Promise<void> {
    const isThere = (): boolean => (typeof text === 'string' ? said().includes(text) : text.test(said()));
    const until = Date.now() + patientMs;
    while (!isThere()) {
      const { exitCode } = this.#child;
      if (exitCode !== null || Date.now() > until) throw new Error(`${exitCode}: ${this.stdout}${this.stderr}`);
      await sleep(10);
    }
  }

  async ended(): Promise<Result> {
    await this.#ended;
    return { code: this.#child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }
}
