/** Words and bounds of schedules. A schedule sends a prompt to its agent at times that its owner sets. */

/**
 * The outcome of a scheduled time. `ok`: the agent answered, and its answer was delivered. `failed`: it failed for good.
 * `missed`: it passed while nobody could look, or too long ago. `skipped`: it was left out on purpose.
 */
export const runStatuses = ['ok', 'failed', 'missed', 'skipped'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** Most schedules of an agent. */
export const maxSchedules = 100;
export const maxPromptChars = 16_384;

/** Most characters of an answer stored with its run. */
const maxPreviewChars = 1_000;
const maxPreviewLines = 12;

/** Returns the first lines of an answer. */
export function previewOf(answer: string): string {
  const lines = answer.slice(0, maxPreviewChars).split('\n', maxPreviewLines);
  return lines.join('\n').toWellFormed().trimEnd();
}
