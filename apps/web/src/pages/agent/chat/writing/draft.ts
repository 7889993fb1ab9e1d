/** Words that are typed and not sent yet, kept for this tab: neither a lost session nor a reload loses them. */
import type { SentFile } from '../conversation.ts';

export interface Draft {
  readonly text: string;
  readonly files: readonly SentFile[];
}

const none: Draft = { text: '', files: [] };
const keyOf = (agentId: string, conversation: string): string => `lodge.draft:${agentId}:${conversation}`;

export function readDraft(agentId: string, conversation: string): Draft {
  try {
    const read = JSON.parse(sessionStorage.getItem(keyOf(agentId, conversation)) ?? 'null') as Draft | null;
    return typeof read?.text === 'string' && Array.isArray(read.files) ? read : none;
  } catch {
    return none;
  }
}

export function writeDraft(agentId: string, conversation: string, draft: Draft): void {
  const key = keyOf(agentId, conversation);
  try {
    if (draft.text === '' && draft.files.length === 0) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // Without room for it the draft is on the page alone.
  }
}
