/**
 * Whether emulators answer. At any time one question to each emulator is running, whoever asks:
 *
 *   asked -> answered within seconds -> known
 *         -> silent: told to everybody who asks, and not waited for again -> answered, however late -> known
 *
 * So a hanging emulator delays one look by some seconds, and none after it.
 */
import { atMost } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import { isAlive } from '../host/process.ts';
import type { Watched } from '../machine/watch.ts';

/** A running emulator answers in a millisecond, on a slow and busy host in a second or two. */
const patienceMs = 5_000;
/** Wait for an emulator that was silent the last time. */
const shortMs = 100;

export type Answer<T> = { readonly value: T } | { readonly silent: string };

export class Answers<T> {
  private readonly ask: (vm: Watched) => Promise<T>;
  private readonly log: Pick<Log, 'info' | 'warn'>;
  private readonly underway = new WeakMap<Watched, Promise<Answer<T>>>();
  private readonly silent = new WeakSet<Watched>();

  /** `ask` ends by itself at some time. It rejects if the emulator gives no answer, or refuses to. */
  constructor(ask: (vm: Watched) => Promise<T>, log: Pick<Log, 'info' | 'warn'>) {
    this.ask = ask;
    this.log = log;
  }

  /** Returns the emulator's answer, or why it gives none. Never rejects. */
  async of(vm: Watched): Promise<Answer<T>> {
    const underway = this.underway.get(vm) ?? this.question(vm);
    const boundMs = this.silent.has(vm) ? shortMs : patienceMs;
    const answer = await atMost(boundMs, underway, () => ({ silent: `no answer in ${boundMs} ms` }));
    if ('silent' in answer) this.note(vm, answer.silent);
    return answer;
  }

  /** Whether it gave no answer to the last question, so that waiting is useless. */
  isSilent(vm: Watched): boolean {
    return this.silent.has(vm);
  }

  private question(vm: Watched): Promise<Answer<T>> {
    const asked = this.ask(vm)
      .then((value) => {
        if (this.silent.delete(vm)) this.log.info({ agent_id: vm.agentId }, 'an emulator answers again');
        return { value };
      })
      .catch((error: unknown) => ({ silent: error instanceof Error ? error.message : String(error) }))
      .finally(() => this.underway.delete(vm));
    this.underway.set(vm, asked);
    return asked;
  }

  private note(vm: Watched, why: string): void {
    // An emulator that has ended stays silent for good.
    if (this.silent.has(vm) || !isAlive(vm.process)) return;
    this.silent.add(vm);
    this.log.warn({ agent_id: vm.agentId, execution_id: vm.executionId, why }, 'an emulator does not answer');
  }
}
