/** One run of a command: where it prints, which deployment it speaks to, and its end when somebody interrupts it. */
import type { Command } from 'commander';
import type { Lodge, WebSocketClass } from '@lodge/sdk';
import { chooseContext } from './context/choice.ts';
import type { Choice } from './context/choice.ts';
import { CommandError, exitCodes } from './failure.ts';
import type { Circumstances } from './failure.ts';
import { Interrupts } from './interrupts.ts';
import { Output } from './terminal/output.ts';
import type { Stream } from './terminal/output.ts';
import { version } from './version.ts';

/** Options that every command has. */
export interface SharedOptions {
  readonly json?: true;
  readonly context?: string;
  readonly url?: string;
  readonly yes?: true;
}

export class Run {
  readonly env: NodeJS.ProcessEnv;
  readonly interrupts: Interrupts;
  /** Known as soon as something is called; for the sentences about a failure. */
  circumstances: Circumstances = {};
  readonly #stdout: Stream;
  readonly #stderr: Stream;
  #out: Output;
  #shared: SharedOptions = {};
  #choice: Promise<Choice> | undefined;
  #lodge: Promise<Lodge> | undefined;

  constructor(env: NodeJS.ProcessEnv, interrupts: Interrupts, stdout: Stream, stderr: Stream) {
    this.env = env;
    this.interrupts = interrupts;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#out = this.#output(false);
  }

  get out(): Output {
    return this.#out;
  }

  /** Aborts when the command is interrupted. Every call gets it. */
  get signal(): AbortSignal {
    return this.interrupts.signal;
  }

  /** The last argument of the SDK's calls. */
  get call(): { readonly signal: AbortSignal } {
    return { signal: this.signal };
  }

  get isYes(): boolean {
    return this.#shared.yes === true;
  }

  /** Takes the options that every command has, before the command begins. */
  begin(shared: SharedOptions): void {
    this.#shared = shared;
    this.#out = this.#output(shared.json === true);
  }

  /** The deployment that the command speaks to, and the key. */
  choice(): Promise<Choice> {
    this.#choice ??= chooseContext(this.env, this.#shared).then((choice) => {
      this.circumstances = { url: choice.url, keyFrom: choice.keyFrom };
      return choice;
    });
    return this.#choice;
  }

  /** Returns the API with the key of the context; fails where nobody is signed in. */
  async lodge(): Promise<Lodge> {
    const { apiKey, name } = await this.choice();
    if (apiKey === undefined)
      throw new CommandError(
        exitCodes.denied,
        name === null ? 'Nobody is signed in.' : `Nobody is signed in at the context ${name}.`,
        'Sign in with `lodge login`, or set LODGE_API_KEY.',
      );
    return this.anyLodge();
  }

  /** Returns the API, with a key if there is one. */
  anyLodge(): Promise<Lodge> {
    this.#lodge ??= this.choice().then(({ url, apiKey }) => this.lodgeAt(url, apiKey));
    return this.#lodge;
  }

  /** Returns the API for calls that need a WebSocket, which Node 20 lacks. `isPausable`: one that can stop reading. */
  async lodgeWithSockets(isPausable = false): Promise<Lodge> {
    const lodge = await this.lodge();
    if (!isPausable && 'WebSocket' in globalThis) return lodge;
    const { WebSocket } = await import('ws');
    const { url, apiKey } = await this.choice();
    return this.lodgeAt(url, apiKey, WebSocket as unknown as WebSocketClass);
  }

  /** Returns the API at an address. */
  async lodgeAt(url: string, apiKey: string | undefined, webSocket?: WebSocketClass): Promise<Lodge> {
    const { Lodge } = await import('@lodge/sdk');
    return new Lodge({
      baseUrl: url,
      apiKey: apiKey ?? '',
      headers: { 'user-agent': `lodge-cli/${version}` },
      webSocket,
    });
  }

  #output(isJson: boolean): Output {
    return new Output({ stdout: this.#stdout, stderr: this.#stderr, env: this.env, isJson });
  }
}

type Body<Options, Args extends readonly unknown[]> = (
  run: Run,
  options: Options & SharedOptions,
  ...args: Args
) => Promise<void>;

/** Makes an action of commander from a function of the run, the command's options and its arguments. */
export type On = <Options, Args extends readonly unknown[]>(
  body: Body<Options, Args>,
) => (...given: unknown[]) => Promise<void>;

export const actionsOf =
  (run: Run): On =>
  <Options, Args extends readonly unknown[]>(body: Body<Options, Args>) =>
  async (...given: unknown[]) => {
    const options = (given.at(-1) as Command).optsWithGlobals<Options & SharedOptions>();
    run.begin(options);
    await body(run, options, ...(given.slice(0, -2) as unknown as Args));
  };
