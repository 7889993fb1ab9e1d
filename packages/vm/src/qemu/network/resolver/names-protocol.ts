/** What root and the process that looks names up say to each other, over a pair of sockets that nobody else can reach. */
import type { PinBounds } from './lookups.ts';

/** The channel's file descriptor in the process. */
export const namesFd = 3;

/** What root says first: where to listen, whom to ask, and what no guest may be given. */
export interface Serve {
  readonly address: string;
  readonly port: number;
  readonly nameServers: readonly string[];
  readonly pinBounds: PinBounds;
  readonly closedBlocks: readonly string[];
}

/** Addresses that a name has now: root pins them for the guest, or answers that it does not. */
export interface WantedPin {
  /** Source address of the guest. */
  readonly guest: string;
  readonly addresses: readonly string[];
  /** Of the entry that allows the name. */
  readonly mark: number;
  readonly seconds: number;
}
