/**
 * Keeps the clocks of guests that run for long. A guest asks nobody for the time: it goes by its processor's, which stands still while the
 * host is suspended (under emulation), knows nothing of a host whose clock was set, and drifts from it over weeks.
 * From its start on all that were there are told, and let go on, until each has answered: a control plane that was killed may have left
 * one frozen that was about to be saved. A guest that is being saved now is not let go on.
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
/** What is still under way to a guest that is about to be saved is given up after so long: others wait for the save. */
const holdMs = 8_000;

export interface ClockKeeperParts {
  readonly watch: Pick<ExitWatch, 'all'>;
  /** Sets the clock of a VM that runs; of one that does not there is nothing to do. Bounded. `goOn`: and lets it go on where it is frozen. */
  readonly setClock: (vm: Watched, goOn: boolean, signal: AbortSignal) => Promise<void>;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  /** Between two looks, ms. */
  readonly everyMs?: number;
}

interface Call {
  readonly giveUp: AbortController;
  readonly over: Promise<void>;
}

export class ClockKeeper {
  private readonly parts: ClockKeeperParts;
  private timer: NodeJS.Timeout | null = null;
  private stopping = new AbortController();
  private offsetMs = hostOffsetMs();
  private setAtMs = performance.now();
  /** Those that may be frozen since before, and have not answered; and whether the operator was told. */
  private readonly uncalled = new Map<Watched, { warned: boolean }>();
  /** Those that are being saved, by agent. */
  private readonly held = new Set<string>();
  /** Calls under way that let a guest go on, by agent. */
  private readonly calls = new Map<string, Call>();
  private lettingGo: Promise<void> | null = null;

  constructor(parts: ClockKeeperParts) {
    this.parts = parts;
  }

  start(): void {
    this.stop();
    this.stopping = new AbortController();
    this.offsetMs = hostOffsetMs();
    this.setAtMs = performance.now();
    this.uncalled.clear();
    for (const vm of this.parts.watch.all()) this.uncalled.set(vm, { warned: false });
    this.letGoOn(this.stopping.signal);
    this.wait();
  }

  /**
   * Has no guest of that agent go on from here until the function given is called: it is about to be saved. Resolves once no such call
   * is under way, so that none comes after the freeze.
   */
  async hold(agentId: string, signal: AbortSignal): Promise<() => void> {
    this.held.add(agentId);
    const call = this.calls.get(agentId);
    if (call) {
      const late = AbortSignal.any([signal, AbortSignal.timeout(holdMs)]);
      const giveUp = (): void => call.giveUp.abort();
      if (late.aborted) giveUp();
      else late.addEventListener('abort', giveUp, { once: true });
      await call.over;
      late.removeEventListener('abort', giveUp);
    }
    return () => this.held.delete(agentId);
  }

  stop(): void {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private wait(): void {
    this.timer = setTimeout(() => void this.look(this.stopping.signal), this.parts.everyMs ?? everyMs).unref();
  }

  private async look(signal: AbortSignal): Promise<void> {
    this.letGoOn(signal);
    const offsetMs = hostOffsetMs();
    const jumpedMs = Math.round(offsetMs - this.offsetMs);
    const jumped = Math.abs(jumpedMs) > jumpMs;
    if (jumped) this.parts.log.warn({ ms: jumpedMs }, 'the host’s clock has jumped: clocks of guests are set');
    if (jumped || performance.now() - this.setAtMs > againMs) {
      // What comes while guests are told counts from here.
      this.offsetMs = offsetMs;
      this.setAtMs = performance.now();
      await this.tellAll(signal);
    }
    if (!signal.aborted) this.wait();
  }

  /** Not waited for: a guest that is silent must not keep others from the time. */
  private letGoOn(signal: AbortSignal): void {
    const there = new Set(this.parts.watch.all());
    for (const vm of this.uncalled.keys()) if (!there.has(vm)) this.uncalled.delete(vm);
    this.lettingGo ??= forEachOf([...this.uncalled.keys()], signal, (vm) => this.callToGoOn(vm, signal)).finally(() => {
      this.lettingGo = null;
    });
  }

  private async callToGoOn(vm: Watched, signal: AbortSignal): Promise<void> {
    const { agentId } = vm;
    // Whoever saves it ends it, or lets it go on where that fails.
    if (this.held.has(agentId)) return;
    const giveUp = new AbortController();
    const over = this.parts.setClock(vm, true, AbortSignal.any([signal, giveUp.signal])).then(
      () => void this.uncalled.delete(vm),
      (error: unknown) => {
        if (!signal.aborted && !giveUp.signal.aborted) this.warnOnce(vm, error);
      },
    );
    this.calls.set(agentId, { giveUp, over });
    await over;
    this.calls.delete(agentId);
  }

  private warnOnce(vm: Watched, error: unknown): void {
    const entry = this.uncalled.get(vm);
    if (!entry || entry.warned) return;
    entry.warned = true;
    const fields = { agent_id: vm.agentId, err: error };
    this.parts.log.warn(fields, 'a guest that may be frozen did not answer; it is told to go on until it does');
  }

  private async tellAll(signal: AbortSignal): Promise<void> {
    await forEachOf([...this.parts.watch.all()], signal, async (vm) => {
      await this.parts.setClock(vm, false, signal).catch((error: unknown) => {
        if (signal.aborted) return;
        this.parts.log.debug({ agent_id: vm.agentId, err: error }, 'a guest’s clock was not set');
      });
    });
  }
}

/** Some at the same time, until the signal fires. */
async function forEachOf(vms: Watched[], signal: AbortSignal, tell: (vm: Watched) => Promise<void>): Promise<void> {
  const teller = async (): Promise<void> => {
    for (let vm = vms.shift(); vm && !signal.aborted; vm = vms.shift()) await tell(vm);
  };
  await Promise.all(Array.from({ length: atOnce }, teller));
}

/** Changes when the wall clock is set, and when the host was suspended. */
function hostOffsetMs(): number {
  return Date.now() - performance.now();
}
