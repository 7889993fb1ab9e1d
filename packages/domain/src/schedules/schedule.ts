/** Words and bounds of schedules: prompts that an agent gets by itself, at times that its owner sets. */

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

/** The first lines of an answer. */
export function previewOf(answer: string): string {
  const lines = answer.slice(0, maxPreviewChars).split('\n', maxPreviewLines);
  return lines.join('\n').toWellFormed().trimEnd();
}
