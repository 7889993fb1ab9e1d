import { usualBackoff } from '../shared/backoff.ts';

export const usualTimings = {
  backoff: usualBackoff,
  connectTimeoutMs: 20_000,
  /** From the beginning to a code to scan, or to a connection that is open. */
  openWithinMs: 60_000,
  /** Half-open connections are found within some three of these. */
  pingEveryMs: 30_000,
  queryTimeoutMs: 20_000,
  /**
   * Without a message for so long, the socket is made anew: open sockets have been seen that answer pings and deliver nothing for
   * days, and WhatsApp has no count to compare with.
   */
  freshAfterMs: 30 * 60_000,
  /** Messages older than this are not answered: what waited for a device that was away for long. */
  maxAgeMs: 7 * 24 * 60 * 60_000,
  /** How long each code to scan is shown. WhatsApp takes none that is older than 20 s, but for the first. */
  codeShownMs: 20_000,
  /** Sockets that show codes to nobody, before it waits to be asked. Each shows six codes in two minutes. */
  pairingRounds: 3,
  fileMs: 5 * 60_000,
  stalledMs: 20_000,
};

export type WhatsAppTimings = Readonly<typeof usualTimings>;
