/** Bounds of the broker: sizes in bytes, times in milliseconds. */
export interface BrokerLimits {
  readonly bodyBytes: number;
  /** A reply that is not streamed is held whole, to be read and checked before it goes on. */
  readonly replyBytes: number;
  /** Time a guest has to send a request. */
  readonly requestMs: number;
  readonly connectMs: number;
  /** From the request's end to the provider's response headers: a model that thinks before it speaks is silent here. */
  readonly firstByteMs: number;
  /** Longest silence within a reply, of the provider or of a guest that does not read. */
  readonly idleMs: number;
  readonly totalMs: number;
  readonly callsPerAgent: number;
  readonly callsPerAccount: number;
  readonly callsPerAgentPerMinute: number;
  /** In all. The last quarter is kept for accounts with no more than `callsPerAgent` running. */
  readonly calls: number;
  /** Bytes of requests that are held, from their arrival until the provider answers. */
  readonly heldBytesPerAgent: number;
  readonly heldBytesPerAccount: number;
  /** In all. The last quarter is kept for accounts that hold no more than one body may have. */
  readonly heldBytes: number;
  /** Bytes of requests that one agent may send over time; half of them at once. */
  readonly bytesPerAgentPerMinute: number;
  /** How long a provider may ask to wait for the broker to do so and try again, instead of handing its refusal on. */
  readonly retryAfterMs: number;
  /** A reply that said it is at its end and is not ended this long after counts as ended. */
  readonly lastWordMs: number;
  readonly connectionsPerAddress: number;
  /** A reply of which the guest takes nothing for so long is destroyed, whatever it is the answer to. */
  readonly stalledMs: number;
}

const mebibyte = 1024 * 1024;
const minute = 60_000;

export const defaultLimits: BrokerLimits = {
  bodyBytes: 8 * mebibyte,
  replyBytes: 16 * mebibyte,
  requestMs: minute,
  connectMs: 10_000,
  firstByteMs: 5 * minute,
  idleMs: 5 * minute,
  totalMs: 30 * minute,
  callsPerAgent: 8,
  callsPerAccount: 128,
  callsPerAgentPerMinute: 240,
  calls: 256,
  heldBytesPerAgent: 32 * mebibyte,
  heldBytesPerAccount: 96 * mebibyte,
  heldBytes: 256 * mebibyte,
  bytesPerAgentPerMinute: 128 * mebibyte,
  retryAfterMs: 5000,
  lastWordMs: 1000,
  connectionsPerAddress: 32,
  stalledMs: 30_000,
};
