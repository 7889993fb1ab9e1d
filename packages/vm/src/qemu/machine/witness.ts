/**
 * Sees one QEMU to its end, and says why it ended. QEMU stands still when its guest ends (`set-action`), so that its console
 * can be read before it goes:
 *
 *   SHUTDOWN of the guest -> console read -> `death.json` -> QEMU is told to quit
 *   process gone          -> exit file, control group, last words -> `death.json`
 *
 * A kill between any two steps leaves a QEMU that stands still, which the next control plane finds, or the file. A QEMU that
 * nobody watches keeps its last 64 KiB of console; a killed one loses unread output.
 *
 * There is no device that reports a panic (pvpanic): one more device would make every template and every snapshot
 * unloadable, and an owner could do nothing about a panic that prints nothing on the console.
 */
import type { VmDeath } from '@lodge/domain';
import { awaitExit, kill } from '../host/process.ts';
import type { ProcessMark } from '../host/process.ts';
import { awaitEnd } from '../host/reaper.ts';
import type { RunDirectory } from '../saved/run-directory.ts';
import { deathBy, isGuestEnd } from './death.ts';
import type { EmulatorLog } from './emulator-log.ts';
import { QmpError } from './qmp.ts';
import type { Qmp } from './qmp.ts';

export interface WitnessParts {
  readonly directory: RunDirectory;
  /** Whether its process is from an earlier boot of the host. */
  readonly hostRestarted?: boolean;
  /** Whether the kernel has killed in its control group for lack of memory. */
  readonly outOfMemoryKill: () => Promise<boolean>;
}

interface Emulation {
  readonly qmp: Qmp;
  readonly process: ProcessMark;
}

const quitTimeoutMs = 5000;
const tailChars = 16_384;
/** Run states that no `cont` leads out of. */
const isOver = (status: string): boolean => isGuestEnd(status) || status === 'internal-error';

export class Witness {
  private readonly parts: WitnessParts;
  private readonly log: EmulatorLog | null;
  private tail = '';
  private said: string | null = null;
  private untrusted = false;
  private wanted = false;
  private ending: Promise<void> | null = null;
  private found: Promise<VmDeath> | null = null;

  constructor(parts: WitnessParts, log: EmulatorLog | null) {
    this.parts = parts;
    this.log = log;
  }

  /** Prepares each new connection to it, if possible before its guest runs. */
  async attend(qmp: Qmp, process: ProcessMark): Promise<void> {
    qmp.onEvent(({ event, data }) => {
      if (event === 'SHUTDOWN') this.hear({ qmp, process }, data ?? {});
    });
    void qmp.closed.then(() => {
      if (qmp.broken !== null) this.untrusted = true;
    });
    const actions = { reboot: 'shutdown', shutdown: 'pause', panic: 'pause' };
    await qmp.execute('set-action', actions).catch((error: unknown) => {
      // A QEMU without this command ends with its guest, and its console with it.
      if (!(error instanceof QmpError)) throw error;
    });
  }

  /** Says that Lodge ends it: its end is no death. */
  expectEnd(): void {
    this.wanted = true;
  }

  get isEndExpected(): boolean {
    return this.wanted;
  }

  /** Whether its guest has ended, and it is about to. */
  get isOver(): boolean {
    return this.ending !== null;
  }

  /** The guest's output since the last call. */
  async readConsole(qmp: Qmp): Promise<string> {
    const parameters = { device: 'console', size: 65_536, format: 'base64' };
    const text = Buffer.from(await qmp.execute<string>('ringbuf-read', parameters), 'base64').toString();
    this.tail = (this.tail + text).slice(-tailChars);
    return text;
  }

  /** Ends a QEMU whose guest will never go on, as its run state says. Returns false if the guest may go on. */
  async endIfOver(emulator: Emulation, status: string): Promise<boolean> {
    if (!isOver(status)) return false;
    await this.end(emulator, status);
    return true;
  }

  /** Why it ended. Ask once its process has. */
  death(): Promise<VmDeath> {
    this.found ??= this.find();
    return this.found;
  }

  /** The last lines of its console, and why it stands still. */
  standstill(code: VmDeath['code']): VmDeath {
    return { ...this.deathNow(), code, detail: '' };
  }

  /** The last lines of the console of a guest that is there and does not answer. */
  async lastLines(qmp: Qmp): Promise<readonly string[]> {
    await this.readConsole(qmp).catch(() => '');
    return this.deathNow().console;
  }

  private hear(emulator: Emulation, { guest, reason }: Readonly<Record<string, unknown>>): void {
    const said = typeof reason === 'string' ? reason : 'shutdown';
    if (guest === true) void this.end(emulator, said);
    else this.said ??= said;
  }

  private end(emulator: Emulation, said: string): Promise<void> {
    this.said ??= said;
    this.ending ??= this.endNow(emulator);
    return this.ending;
  }

  private async endNow({ qmp, process }: Emulation): Promise<void> {
    const { directory } = this.parts;
    await this.readConsole(qmp).catch(() => '');
    // A process that was killed between the two has read the console, which is empty now, and has written its text down.
    const isRecorded = this.wanted || (await directory.readDeath().catch(() => null)) !== null;
    if (!isRecorded) await directory.writeDeath(this.deathNow()).catch(() => undefined);
    await qmp.execute('quit', {}, { timeoutMs: quitTimeoutMs }).catch(() => undefined);
    // A QEMU that its guest has taken over may claim its end, and go on.
    await awaitExit(process, quitTimeoutMs).catch(() => kill(process).catch(() => undefined));
  }

  private deathNow(): VmDeath {
    const nothing = { end: null, outOfMemoryKill: false, hostRestarted: false, lastWords: '' };
    return deathBy({ ...nothing, said: this.said, untrusted: this.untrusted, console: this.tail });
  }

  private async find(): Promise<VmDeath> {
    const { directory, hostRestarted = false, outOfMemoryKill } = this.parts;
    await this.ending;
    const written = await directory.readDeath();
    if (written) return written;
    const [end, noMemory, words] = await Promise.all([
      hostRestarted ? null : awaitEnd(directory.exitFile),
      outOfMemoryKill().catch(() => false),
      this.log?.tail() ?? '',
    ]);
    const { said, untrusted, tail } = this;
    const lastWords = words + (end?.words ?? '');
    const evidence = { said, end, untrusted, hostRestarted, lastWords, console: tail };
    const death = deathBy({ ...evidence, outOfMemoryKill: noMemory });
    if (!this.wanted) await directory.writeDeath(death).catch(() => undefined);
    return death;
  }
}
