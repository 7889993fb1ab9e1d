/**
 * Keeps the clocks of guests that run for long. A guest asks nobody for the time: it uses its processor's clock. That one
 * stands still while the host is suspended (under emulation), ignores a change of the host's clock, and drifts from it over
 * weeks. After its start the keeper sets the clock of all existing guests and lets them go on, until each has answered: a
 * killed control plane may have left one frozen that it was about to save. A guest that is being saved now stays frozen.
 */
import type { Log } from '@lodge/ports';
import type { ExitWatch, Watched } from '../machine/watch.ts';

/** Time between two looks at the host's clocks. */
const everyMs = 5000;
/** The host's wall clock advanced by so much more or less than its monotonic one: it was set, or the host slept. */
const jumpMs = 500;
/** Interval without a jump, because of the drift. */
const againMs = 3_600_000;
/** Guests whose clocks are set at the same time. */
const atOnce = 8;
/** A call to a guest that is about to be saved is given up after this time: others wait for the save. */
const holdMs = 8_000;

export interface ClockKeeperParts {
  readonly watch: Pick<ExitWatch, 'all'>;
  /** Sets the clock of a running VM; does nothing for another one. Bounded. `goOn` also lets a frozen VM go on. */
  readonly setClock: (vm: Watched, goOn: boolean, signal: AbortSignal) => Promise<void>;
  readonly log: Pick<Log, 'debug' | 'warn'>;
  /** Time between two looks, ms. */
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
  /** Guests that may be frozen since before, and have not answered; and whether the operator was warned. */
  private readonly uncalled = new Map<Watched, { warned: boolean }>();
  /** Agents whose guests are being saved. */
  private readonly held = new Set<string>();
  /** Running calls that let a guest go on, by agent. */
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
   * Lets no guest of that agent go on until the returned function is called, because it is about to be saved. Resolves once
   * no such call is running, so that none comes after the freeze.
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
      // A jump that happens while clocks are set counts from here.
      this.offsetMs = offsetMs;
      this.setAtMs = performance.now();
      await this.tellAll(signal);
    }
    if (!signal.aborted) this.wait();
  }

  /** Nobody waits for this call: a silent guest must not keep others from the time. */
  private letGoOn(signal: AbortSignal): void {
    const there = new Set(this.parts.watch.all());
    for (const vm of this.uncalled.keys()) if (!there.has(vm)) this.uncalled.delete(vm);
    this.lettingGo ??= forEachOf([...this.uncalled.keys()], signal, (vm) => this.callToGoOn(vm, signal)).finally(() => {
      this.lettingGo = null;
    });
  }

  private async callToGoOn(vm: Watched, signal: AbortSignal): Promise<void> {
    const { agentId } = vm;
    // The caller that saves the guest ends it, or lets it go on where that fails.
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

/** Works on some at the same time, until the signal fires. */
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
