/** The destination of a turn's answer that nobody waits for: that of a schedule's run, or of a hook's message. */

/**
 * `none`: only into the record of the turn. `channel`: into a conversation of one of the agent's channels. `webhook`: the
 * event of the turn's end carries it for readers of events.
 */
export const deliverTargets = ['none', 'channel', 'webhook'] as const;
export type DeliverTarget = (typeof deliverTargets)[number];

/** Most UTF-8 bytes of an answer in an event. */
export const maxEventAnswerBytes = 16 * 1024;

/** Returns the beginning of a text in whole characters and at most `maxBytes` UTF-8 bytes. */
export function firstBytes(text: string, maxBytes: number): string {
  const buffer = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text.slice(0, maxBytes), buffer);
  return text.slice(0, read);
}
