import { usualBackoff } from '../shared/backoff.ts';
import type { BackoffTimings } from '../shared/backoff.ts';
import type { MediaTimings } from './media/host.ts';

export interface WhatsAppTimings extends MediaTimings {
  readonly backoff: BackoffTimings;
  readonly connectTimeoutMs: number;
  /** From the beginning to a code to scan, or to a connection that is open. */
  readonly openWithinMs: number;
  /** Half-open connections are found within some three of these. */
  readonly pingEveryMs: number;
  readonly queryTimeoutMs: number;
  /**
   * Without a message for so long, the socket is made anew: open sockets have been seen that answer pings and deliver nothing for
   * days, and WhatsApp has no count to compare with.
   */
  readonly freshAfterMs: number;
  /** Messages older than this are not answered: what waited for a device that was away for long. */
  readonly maxAgeMs: number;
  /** How long each code to scan is shown. WhatsApp takes none that is older than 20 s, but for the first. */
  readonly codeShownMs: number;
  /** Sockets that show codes to nobody, before it waits to be asked. Each shows six codes in two minutes. */
  readonly pairingRounds: number;
}

export const usualTimings: WhatsAppTimings = {
  backoff: usualBackoff,
  connectTimeoutMs: 20_000,
  openWithinMs: 60_000,
  pingEveryMs: 30_000,
  queryTimeoutMs: 20_000,
  freshAfterMs: 30 * 60_000,
  maxAgeMs: 7 * 24 * 60 * 60_000,
  codeShownMs: 20_000,
  pairingRounds: 3,
  fileMs: 5 * 60_000,
  stalledMs: 20_000,
};
