import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { change, hasCode, lodge } from '../../../../api.ts';
import { toast } from '../../../../components/toasts/toasts.tsx';
import { visibleName } from '../../../../components/words/visible-text.ts';
import { signInPath } from '../../../../paths.ts';
import { draftOf, dropDraft, keepDraft } from './drafts.ts';
import type { Draft } from './drafts.ts';
import { nameOf } from '../file-paths.ts';
import { forEditing, forSaving, lineEndsOf } from './line-ends.ts';
import { openFile } from '../open-file.ts';
import { fileQuery } from '../queries.ts';

export interface Edited {
  readonly agentId: string;
  readonly path: string;
  readonly text: string;
  readonly etag: string;
}

/** The content there now instead of the version that was edited; a null text where nothing is, or no text. */
export interface Conflict {
  readonly text: string | null;
  readonly etag: string | null;
}

const draftDelayMs = 300;

/** A text that is edited: what was typed, whether it is saved, and what happened to the file meanwhile. */
export function useEditing({ agentId, path, text, etag }: Edited) {
  const queryClient = useQueryClient();
  const [draft] = useState(() => draftOf(agentId, path));
  const isOld = draft !== null && draft.etag !== etag && draft.text !== forEditing(text);
  // A draft of another version keeps its version, also over the next reload.
  const [base, setBase] = useState({ text: forEditing(text), etag: isOld ? draft.etag : etag });
  const [typed, setTyped] = useState(draft?.text ?? base.text);
  const [ends] = useState(() => lineEndsOf(text));
  const [conflict, setConflict] = useState<Conflict | null>(isOld ? { text, etag } : null);
  const isChanged = typed !== base.text;
  const kept = useKeptDraft(agentId, path);

  const save = useMutation({
    mutationFn: async (over: Conflict | null) => {
      const sent = typed;
      const body = forSaving(sent, ends);
      const options = over?.etag === null ? { isNew: true } : { ifMatch: over?.etag ?? base.etag };
      return { sent, saved: await change(() => lodge.files.write(agentId, path, body, options)) };
    },
    onSuccess: ({ sent, saved }) => {
      kept.saved(sent, saved.etag);
      setBase({ text: sent, etag: saved.etag });
      setConflict(null);
      queryClient.setQueryData(fileQuery(agentId, path).queryKey, (before) =>
        before === undefined ? before : { ...before, text: forSaving(sent, ends), etag: saved.etag, size: saved.size },
      );
      void queryClient.invalidateQueries({ queryKey: ['agent', agentId, 'files', 'folder'] });
      toast(`“${visibleName(nameOf(path))}” is saved.`);
    },
    onError: async (error) => {
      if (!hasCode(error, 'precondition_failed') && !hasCode(error, 'file_not_found')) return;
      setConflict(await currentOf(agentId, path).catch(() => ({ text: null, etag: null })));
    },
  });

  return {
    typed,
    type: (next: string) => {
      setTyped(next);
      kept.keep(next === base.text ? null : { text: next, etag: base.etag });
    },
    isChanged,
    isRestored: draft !== null && draft.text !== forEditing(text),
    isMixed: ends.isMixed,
    conflict,
    save: () => {
      if (!save.isPending && conflict === null) save.mutate(null);
    },
    saveOver: () => (save.isPending ? undefined : save.mutate(conflict)),
    takeTheirs: () => {
      if (conflict?.text === null || conflict?.text === undefined || conflict.etag === null) return;
      kept.keep(null);
      setBase({ text: forEditing(conflict.text), etag: conflict.etag });
      setTyped(forEditing(conflict.text));
      setConflict(null);
      save.reset();
    },
    isSaving: save.isPending,
    error: conflict === null ? save.error : null,
    blocker: useLeaving(isChanged),
  };
}

async function currentOf(agentId: string, path: string): Promise<Conflict> {
  try {
    const { text, etag } = await openFile(agentId, path);
    return { text, etag };
  } catch (error) {
    if (hasCode(error, 'file_not_found')) return { text: null, etag: null };
    throw error;
  }
}

/**
 * The typed text, in the browser's store: a moment after the last key, and at once when the page goes. Only saving, or typing what
 * is in the file, removes it.
 */
function useKeptDraft(agentId: string, path: string) {
  const waiting = useRef<Draft>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const write = (): void => {
      clearTimeout(timer.current);
      if (waiting.current !== undefined) keepDraft(agentId, path, waiting.current);
      waiting.current = undefined;
    };
    window.addEventListener('pagehide', write);
    return () => {
      window.removeEventListener('pagehide', write);
      write();
    };
  }, [agentId, path]);
  const keep = (draft: Draft | null): void => {
    clearTimeout(timer.current);
    waiting.current = draft ?? undefined;
    if (draft === null) dropDraft(agentId, path);
    else {
      timer.current = setTimeout(() => {
        waiting.current = undefined;
        keepDraft(agentId, path, draft);
      }, draftDelayMs);
    }
  };
  return {
    keep,
    /** The person may have typed on while it was saved: then the rest is a draft of the new version. */
    saved: (sent: string, etag: string): void => {
      const latest = waiting.current ?? draftOf(agentId, path);
      keep(latest === null || latest.text === sent ? null : { text: latest.text, etag });
    },
  };
}

/** Asks before the person leaves. An ended session leads to the sign-in page without a question: the draft waits. */
function useLeaving(isChanged: boolean) {
  return useBlocker({
    shouldBlockFn: ({ next }) => isChanged && next.pathname !== signInPath,
    enableBeforeUnload: () => isChanged,
    withResolver: true,
  });
}
