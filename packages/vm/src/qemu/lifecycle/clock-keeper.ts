/**
 * Keeps the clocks of guests that run for long. A guest asks nobody for the time: it goes by its processor's, which stands still while the
 * host is suspended (under emulation), knows nothing of a host whose clock was set, and drifts from it over weeks.
 * At its start all are told, and let go on: a control plane that was killed may have left one frozen that was about to be saved.
 */
import type { Log } from '@lodge/ports';
import type { ExitWatch, Watched } from '../machine/watch.ts';

/** Between two looks at the host's clocks. */
const everyMs = 5000;
/** The host's wall clock went on by so much more or less than its monotonic one: it was set, or the host slept. */
const jumpMs = 500;
/** Without a jump, for the drift. */
const againMs = 3_600_000;
/** Guests that are told at the same time. */
const atOnce = 8;

export interface ClockKeeperParts {
  readonly watch: Pick<ExitWatch, 'all'>;
  /** Sets the clock of a VM that runs; of one that does not there is nothing to do. Bounded. `goOn`: and lets it go on where it is frozen. */
  readonly setClock: (vm: Watched, goOn: boolean, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

export class ClockKeeper {
  private readonly parts: ClockKeeperParts;
  private timer: NodeJS.Timeout | null = null;
  private stopping = new AbortController();
  private offsetMs = hostOffsetMs();
  private setAtMs = performance.now();

  constructor(parts: ClockKeeperParts) {
    this.parts = parts;
  }

  start(): void {
    this.stop();
    this.stopping = new AbortController();
    this.offsetMs = hostOffsetMs();
    this.setAtMs = performance.now();
    void this.tellAll(true, this.stopping.signal);
    this.wait();
  }

  stop(): void {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private wait(): void {
    this.timer = setTimeout(() => void this.look(this.stopping.signal), everyMs).unref();
  }

  private async look(signal: AbortSignal): Promise<void> {
    const offsetMs = hostOffsetMs();
    const jumpedMs = Math.round(offsetMs - this.offsetMs);
    const jumped = Math.abs(jumpedMs) > jumpMs;
    if (jumped) this.parts.log.warn({ ms: jumpedMs }, 'the host’s clock has jumped: clocks of guests are set');
    if (jumped || performance.now() - this.setAtMs > againMs) {
      // What comes while guests are told counts from here.
      this.offsetMs = offsetMs;
      this.setAtMs = performance.now();
      await this.tellAll(false, signal);
    }
    if (!signal.aborted) this.wait();
  }

  private async tellAll(goOn: boolean, signal: AbortSignal): Promise<void> {
    const left = [...this.parts.watch.all()];
    const teller = async (): Promise<void> => {
      for (let vm = left.pop(); vm && !signal.aborted; vm = left.pop()) {
        const { agentId } = vm;
        await this.parts.setClock(vm, goOn, signal).catch((error: unknown) => {
          if (!signal.aborted) this.parts.log.debug({ agent_id: agentId, err: error }, 'a guest’s clock was not set');
        });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, teller));
  }
}

/** Changes when the wall clock is set, and when the host was suspended. */
function hostOffsetMs(): number {
  return Date.now() - performance.now();
}
