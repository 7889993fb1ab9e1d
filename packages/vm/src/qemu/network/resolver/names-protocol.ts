/** The messages between root and the process that looks names up, over a pair of sockets that nobody else can reach. */
import type { PinBounds } from './lookups.ts';

/** The channel's file descriptor in the process. */
export const namesFd = 3;

/** Root's first message: where to listen, which servers to ask, and which addresses no guest may get. */
export interface Serve {
  readonly address: string;
  readonly port: number;
  readonly nameServers: readonly string[];
  readonly pinBounds: PinBounds;
  readonly closedBlocks: readonly string[];
}

/** The current addresses of a name: root pins them for the guest, or answers that it does not. */
export interface WantedPin {
  /** Source address of the guest. */
  readonly guest: string;
  readonly addresses: readonly string[];
  /** The mark of the entry that allows the name. */
  readonly mark: number;
  readonly seconds: number;
}
