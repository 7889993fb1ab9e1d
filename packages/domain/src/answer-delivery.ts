/** Where the answer of a turn goes that nobody waits for: of a schedule's run, or of a hook's message. */

/**
 * `none`: nowhere but into the record of the turn. `channel`: into a conversation of one of the agent's channels. `webhook`: the event
 * of the turn's end has it, for whoever follows events.
 */
export const deliverTargets = ['none', 'channel', 'webhook'] as const;
export type DeliverTarget = (typeof deliverTargets)[number];

/** What of an answer an event carries, UTF-8 bytes. */
export const maxEventAnswerBytes = 16 * 1024;

/** The beginning of a text, in at most so many UTF-8 bytes and whole characters. */
export function firstBytes(text: string, maxBytes: number): string {
  const buffer = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text.slice(0, maxBytes), buffer);
  return text.slice(0, read);
}
