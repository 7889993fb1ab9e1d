/** How long and how many answers wait to be sent, and why one is given up. */

export const outboundBounds = {
  /** Longest wait in hours, from the time at which a part was due. */
  waitHours: 24,
  /** Most answers of a channel that wait. */
  waiting: 2_000,
} as const;

/** Why an answer was given up, for the owner. */
export const unsentReasons = {
  late: `The channel was not connected for ${outboundBounds.waitHours} hours, so the answer was not sent. Retry the message to send it.`,
  crowded: `More than ${outboundBounds.waiting} answers waited to be sent, so the oldest were given up. Retry the message to send it.`,
} as const;

/**
 * The end of an answer that is given up. One of which a part was on its way when its sender died may have arrived, so it is
 * `unknown`.
 */
export const unsentEnd = (
  reason: string,
  mayHaveArrived: boolean,
): { readonly state: 'failed' | 'unknown'; readonly reason: string } =>
  mayHaveArrived
    ? { state: 'unknown', reason: `${reason} A try before may have arrived.` }
    : { state: 'failed', reason };
