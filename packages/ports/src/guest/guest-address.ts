import type { Duplex } from 'node:stream';

/** A TCP connection to a guest. It ends whole with the guest's end, until `allowHalfOpen` is set. */
export interface GuestConnection extends Duplex {
  /** Calls back when nothing went either way for this long; 0 for never. */
  setTimeout(ms: number, silent?: () => void): this;
  /** Ends it once all that was written is on its way. */
  destroySoon(): void;
}

/** Connects to a TCP port of one guest, as `VmHost.dial` does. */
export type Dial = (port: number, signal: AbortSignal) => Promise<GuestConnection>;

/** The way to a guest, and the credential by which its daemon recognises the host. */
export interface GuestAddress {
  /** The driver's name for it (`Vm.address`). */
  readonly address: string;
  readonly dial: Dial;
  /**
   * Returns the credential by which the daemon recognises the host (`VmDriver.guestCredential`). It is fetched for each
   * call, so a late call to another agent's guest at this address does not carry that guest's credential. Null when the
   * daemon was given none.
   */
  readonly credential: () => Promise<string | null>;
  /** Factor by which the guest's own work may take longer (`VmDriver.pace`); 1 when unknown. */
  readonly pace?: number;
}
