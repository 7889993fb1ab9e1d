/** Going back: an agent's machine becomes that of one of its snapshots. */

/** Names the newest snapshot that was saved before the agent's last turn began. */
export const beforeLastTurn = 'before_last_turn';

/** Days for which the present of before a restore or an upgrade is kept, unless its owner says otherwise. */
export const keptPresentDays = 30;

const maxNoteChars = 1000;

/** The line that the agent's next turn begins with. `earlier` is a line that no turn has begun with yet. */
export function restoreNote(savedAt: Date, earlier: string | null): string {
  const note = `Your machine was set back to how it was at ${savedAt.toISOString()}. You know nothing of what you did after that, and its effects on your files are undone; what you sent to others is not. Do not take it up again unless you are asked to.`;
  const both = earlier === null ? note : `${earlier} ${note}`;
  return both.length > maxNoteChars ? note : both;
}
