/** Words and bounds of schedules: prompts that an agent gets by itself, at times that its owner sets. */

/**
 * Where the answer of a run goes. `none`: it stays in the run and the agent's log. `channel`: into a conversation of one of the
 * agent's channels. `webhook`: the event `schedule.ran` has it, for whoever follows events.
 */
export const deliverTargets = ['none', 'channel', 'webhook'] as const;
export type DeliverTarget = (typeof deliverTargets)[number];

/**
 * What became of a time. `ok`: the agent answered, and its answer is where it belongs. `failed`: it did not, for good.
 * `missed`: it passed while nobody could look, or too long ago. `skipped`: it was left out on purpose.
 */
export const runStatuses = ['ok', 'failed', 'missed', 'skipped'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** Schedules that an agent may have. */
export const maxSchedules = 100;
export const maxPromptChars = 16_384;

/** What of an answer is kept with its run. */
const maxPreviewChars = 1_000;
const maxPreviewLines = 12;
/** What of an answer an event carries, UTF-8 bytes. */
export const maxEventAnswerBytes = 16 * 1024;

/** The first lines of an answer. */
export function previewOf(answer: string): string {
  const lines = answer.slice(0, maxPreviewChars).split('\n', maxPreviewLines);
  return lines.join('\n').toWellFormed().trimEnd();
}

/** The beginning of a text, in at most so many UTF-8 bytes and whole characters. */
export function firstBytes(text: string, maxBytes: number): string {
  const buffer = new Uint8Array(maxBytes);
  const { read } = new TextEncoder().encodeInto(text.slice(0, maxBytes), buffer);
  return text.slice(0, read);
}
