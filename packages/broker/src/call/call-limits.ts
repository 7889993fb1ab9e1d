const mebibyte = 1024 * 1024;
const minute = 60_000;

/** Bounds of the broker: sizes in bytes, times in milliseconds. */
export const defaultLimits = {
  bodyBytes: 8 * mebibyte,
  /** A reply that is not streamed is held whole, to be read and checked before it goes on. */
  replyBytes: 16 * mebibyte,
  /** Time a guest has to send a request. */
  requestMs: minute,
  connectMs: 10_000,
  /** From the request's end to the provider's response headers: a model that thinks before it speaks is silent here. */
  firstByteMs: 5 * minute,
  /** Longest silence within a reply, of the provider or of a guest that does not read. */
  idleMs: 5 * minute,
  totalMs: 30 * minute,
  callsPerAgent: 8,
  callsPerAccount: 128,
  callsPerAgentPerMinute: 240,
  /** In all. The last quarter is kept for accounts with no more than `callsPerAgent` running. */
  calls: 256,
  /** Bytes of requests that are held, from their arrival until the provider answers. */
  heldBytesPerAgent: 32 * mebibyte,
  heldBytesPerAccount: 96 * mebibyte,
  /** In all. The last quarter is kept for accounts that hold no more than one body may have. */
  heldBytes: 256 * mebibyte,
  /** Bytes of requests that one agent may send over time; half of them at once. */
  bytesPerAgentPerMinute: 128 * mebibyte,
  /** How long a provider may ask to wait for the broker to do so and try again, instead of handing its refusal on. */
  retryAfterMs: 5000,
  /** A reply that said it is at its end and is not ended this long after counts as ended. */
  lastWordMs: 1000,
  connectionsPerAddress: 32,
  /** A reply of which the guest takes nothing for so long is destroyed, whatever it is the answer to. */
  stalledMs: 30_000,
};

export type BrokerLimits = Readonly<typeof defaultLimits>;
