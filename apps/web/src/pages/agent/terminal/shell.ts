/**
 * A shell on the agent's machine, behind a terminal on the page. A cut connection ends the shell with all that runs in it; the
 * page then opens another by itself, and says so. A shell that ended by itself stays ended until the person asks.
 */
import type { Terminal as Session } from '@lodge/sdk';
import { lodge, read } from '../../../api.ts';
import { isPassing, pause } from '../../../live/again.ts';

export type ShellState =
  | { readonly kind: 'connecting' }
  /** `isAnother`: the one before was cut off. */
  | { readonly kind: 'open'; readonly isAnother: boolean }
  | { readonly kind: 'cut' }
  /** An exit code of null: a signal ended the shell. */
  | { readonly kind: 'ended'; readonly exitCode: number | null }
  | { readonly kind: 'asleep' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The terminal as the shell sees it. */
export interface Screen {
  readonly size: () => { readonly cols: number; readonly rows: number };
  /** Resolves once it is drawn, so a shell that writes without end fills no memory. */
  readonly write: (data: Uint8Array | string) => Promise<void>;
}

interface ShellOptions {
  readonly agentId: string;
  readonly user: 'agent' | 'root';
  readonly screen: Screen;
  readonly onState: (state: ShellState) => void;
}

const maxPauseMs = 8_000;
/** Written before another shell begins: what the one before has switched on is switched off, and its output stays. */
const calmScreen =
  '\u001B[?1047l\u001B[!p\u001B[?1000l\u001B[?1002l\u001B[?1003l\u001B[?1006l\u001B[?2004l\u001B[?25h\u001B[0m\r\n';

export class Shell {
  readonly #options: ShellOptions;
  readonly #over = new AbortController();
  #session: Session | null = null;

  constructor(options: ShellOptions) {
    this.#options = options;
    void this.#run();
  }

  write(data: string): void {
    this.#session?.write(data);
  }

  resize(cols: number, rows: number): void {
    this.#session?.resize(cols, rows);
  }

  close(): void {
    this.#over.abort();
    this.#session?.close();
  }

  async #run(): Promise<void> {
    const { onState } = this.#options;
    const { signal } = this.#over;
    let isAnother = false;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const end = await this.#once(isAnother, () => (failures = 0));
      if (signal.aborted) return;
      if (end.kind !== 'cut') return onState(end);
      onState(end);
      isAnother = true;
      await pause(failures, maxPauseMs, signal);
      if (!signal.aborted && (await this.#isAsleep())) return onState({ kind: 'asleep' });
    }
  }

  /** One shell, from its beginning to its end. */
  async #once(isAnother: boolean, opened: () => void): Promise<ShellState> {
    const { agentId, user, screen, onState } = this.#options;
    const { signal } = this.#over;
    try {
      onState({ kind: isAnother ? 'cut' : 'connecting' });
      const query = { ...screen.size(), user };
      const session = await lodge.terminal.open(agentId, query, { signal, timeoutMs: 60_000 });
      this.#session = session;
      opened();
      onState({ kind: 'open', isAnother });
      if (isAnother) await screen.write(calmScreen);
      // The page may have another size by now.
      const { cols, rows } = screen.size();
      session.resize(cols, rows);
      for await (const chunk of session.output) await screen.write(chunk);
      const { exitCode } = await session.closed;
      return exitCode === undefined ? { kind: 'cut' } : { kind: 'ended', exitCode };
    } catch (error) {
      return isPassing(error) ? { kind: 'cut' } : { kind: 'failed', error };
    } finally {
      this.#session = null;
    }
  }

  /** Asked before another shell is opened: that would start an agent that somebody has just stopped. */
  async #isAsleep(): Promise<boolean> {
    try {
      const { status } = await read(lodge.agents.get(this.#options.agentId, {}));
      return status !== 'running' && status !== 'paused';
    } catch {
      return false;
    }
  }
}
