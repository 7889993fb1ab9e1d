/** Texts that were typed into a file and not saved yet. It outlives a reload, an ended session and a visit to another page of this tab. */

export interface Draft {
  readonly text: string;
  /** The version that was edited. */
  readonly etag: string;
}

const keyOf = (agentId: string, path: string): string => `lodge-draft:${agentId}:${path}`;

export function draftOf(agentId: string, path: string): Draft | null {
  try {
    const stored = sessionStorage.getItem(keyOf(agentId, path));
    return stored === null ? null : (JSON.parse(stored) as Draft);
  } catch {
    return null;
  }
}

/** Returns whether the browser stores it. */
export function keepDraft(agentId: string, path: string, draft: Draft): boolean {
  try {
    sessionStorage.setItem(keyOf(agentId, path), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(agentId: string, path: string): void {
  try {
    sessionStorage.removeItem(keyOf(agentId, path));
  } catch {
    // A browser that stores nothing has nothing to remove.
  }
}
