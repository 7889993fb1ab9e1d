export const usualRelayTimings = {
  leaseMs: 60_000,
  /** Interval of renewals, well before the end: some may fail. */
  renewEveryMs: 12_000,
  /** A connection is closed this long before its lease ends unrenewed. A close takes up to `closeMs`. */
  marginMs: 15_000,
  closeMs: 6_000,
  /** Interval of looks for channels to take, parts to send and files to fetch, without a notification. */
  lookEveryMs: 5_000,
  /** Least time between two opened connections: a handshake may take tens of milliseconds of the process. */
  openEveryMs: 50,
  /** Bound on one try to send a text; a file may take longer. */
  sendMs: 60_000,
  sendFileMs: 600_000,
  fetchMs: 90_000,
  /** Wait after a part that was surely not sent: doubled with each try. */
  retryFirstMs: 1_000,
  retryMaxMs: 300_000,
  /** Interval of looks for conversations with a running turn. */
  workingEveryMs: 2_000,
  /** A longer turn shows its progress. */
  progressAfterMs: 8_000,
  sweepEveryMs: 3_600_000,
};

export type RelayTimings = Readonly<typeof usualRelayTimings>;
