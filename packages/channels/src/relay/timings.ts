export interface RelayTimings {
  readonly leaseMs: number;
  /** Interval of renewals, well before the end: some may fail. */
  readonly renewEveryMs: number;
  /** A connection is closed this long before its lease ends unrenewed. A close takes up to `closeMs`. */
  readonly marginMs: number;
  readonly closeMs: number;
  /** Interval of looks for channels to take, parts to send and files to fetch, without a notification. */
  readonly lookEveryMs: number;
  /** Least time between two opened connections: a handshake may take tens of milliseconds of the process. */
  readonly openEveryMs: number;
  /** Bound on one try to send a text; a file may take longer. */
  readonly sendMs: number;
  readonly sendFileMs: number;
  readonly fetchMs: number;
  /** Wait after a part that was surely not sent: doubled with each try. */
  readonly retryFirstMs: number;
  readonly retryMaxMs: number;
  /** Interval of looks for conversations with a running turn. */
  readonly workingEveryMs: number;
  /** A longer turn shows its progress. */
  readonly progressAfterMs: number;
  readonly sweepEveryMs: number;
}

export const usualRelayTimings: RelayTimings = {
  leaseMs: 60_000,
  renewEveryMs: 12_000,
  marginMs: 15_000,
  closeMs: 6_000,
  lookEveryMs: 5_000,
  openEveryMs: 50,
  sendMs: 60_000,
  sendFileMs: 600_000,
  fetchMs: 90_000,
  retryFirstMs: 1_000,
  retryMaxMs: 300_000,
  workingEveryMs: 2_000,
  progressAfterMs: 8_000,
  sweepEveryMs: 3_600_000,
};
