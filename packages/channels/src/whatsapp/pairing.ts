/** Codes by which a phone links the agent's device: shown until one is taken, and not for ever to nobody. */
import type { ChannelReason } from '@lodge/domain';
import type { ConnectionState } from '@lodge/ports';

const reason: ChannelReason = {
  code: 'pairing_needed',
  message: 'Open WhatsApp on the phone, then Linked devices, and scan the code.',
};
const ranOut: ChannelReason = {
  code: 'pairing_needed',
  message: 'Nobody scanned a code. Restart the channel for a new one.',
};

/** Codes of one socket: WhatsApp gives so many. */
const codesOfRound = 6;
const maxWaitMs = 30_000;

export interface PairingOptions {
  /** Sockets that show codes to nobody, before it waits to be asked. */
  readonly rounds: number;
  readonly codeShownMs: number;
  readonly signal: AbortSignal;
  tell(state: ConnectionState): void;
  isPaired(): boolean;
  /** Asks WhatsApp for a code to type at the phone of this number. */
  codeFor(phoneNumber: string): Promise<string>;
}

export class Pairing {
  /** Whether the socket that is open, or was last, has shown a code. */
  wasShown = false;
  private readonly options: PairingOptions;
  private round = 0;
  private attempt = 0;
  private roundEndsAt = 0;
  private wanted: { readonly phoneNumber: string; readonly shown: PromiseWithResolvers<void> } | null = null;
  private byCode = false;
  private asked = Promise.withResolvers<void>();

  constructor(options: PairingOptions) {
    this.options = options;
  }

  /** Before a socket that is to show codes. Waits when nobody took one for long; false: the connection is closed. */
  async nextRound(): Promise<boolean> {
    const { rounds, signal } = this.options;
    // A socket that never got so far as to show a code is no round.
    if (this.wasShown) this.round += 1;
    this.wasShown = false;
    this.byCode = false;
    if (this.round < rounds) return !signal.aborted;
    this.options.tell({ status: 'pending_pairing', reason: ranOut });
    const ended = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => ended.resolve(), { once: true });
    await Promise.race([this.asked.promise, ended.promise]);
    return !signal.aborted;
  }

  show(qr: string): void {
    const { codeShownMs } = this.options;
    if (!this.wasShown) this.roundEndsAt = Date.now() + codesOfRound * codeShownMs;
    const expiresAt = new Date(Date.now() + codeShownMs);
    this.wasShown = true;
    // A phone has taken a code, and the socket is about to be made anew.
    if (this.byCode || this.options.isPaired()) return;
    if (this.wanted) return void this.showCode(this.wanted);
    this.attempt += 1;
    const code = { qr, pairingCode: null, expiresAt, attempt: this.attempt };
    this.options.tell({ status: 'pending_pairing', reason, code });
  }

  succeeded(): void {
    this.round = 0;
    this.attempt = 0;
    this.wasShown = false;
  }

  /**
   * Resolves when a code to type has been reported. Rejects for a number that is none, and when there is no code within half
   * a minute.
   */
  async byNumber(given: string): Promise<void> {
    const phoneNumber = given.replace(/^\+/, '');
    if (!/^[1-9][0-9]{6,14}$/.test(phoneNumber)) throw new Error('the number must be written as +15551234567');
    if (this.options.isPaired()) throw new Error('a phone is paired already');
    const wanted = { phoneNumber, shown: Promise.withResolvers<void>() };
    this.wanted = wanted;
    this.round = 0;
    this.asked.resolve();
    this.asked = Promise.withResolvers<void>();
    if (this.wasShown) void this.showCode(wanted);
    const timer = setTimeout(() => wanted.shown.reject(new Error('WhatsApp gave no code; try again')), maxWaitMs);
    try {
      await wanted.shown.promise;
    } finally {
      clearTimeout(timer);
      if (this.wanted === wanted) this.wanted = null;
    }
  }

  private async showCode({ phoneNumber, shown }: NonNullable<Pairing['wanted']>): Promise<void> {
    this.wanted = null;
    this.byCode = true;
    try {
      const pairingCode = await this.options.codeFor(phoneNumber);
      this.attempt += 1;
      const code = { qr: null, pairingCode, expiresAt: new Date(this.roundEndsAt), attempt: this.attempt };
      const typed = { ...reason, message: 'Open WhatsApp on the phone, then Linked devices, and type the code.' };
      this.options.tell({ status: 'pending_pairing', reason: typed, code });
      shown.resolve();
    } catch {
      this.byCode = false;
      shown.reject(new Error('WhatsApp gave no code; try again'));
    }
  }
}
