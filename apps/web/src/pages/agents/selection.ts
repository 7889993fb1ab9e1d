import { useMemo, useRef, useState } from 'react';
import type { Agent } from '@lodge/sdk';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** The chosen agents that are shown, in their order. */
  readonly chosen: readonly Agent[];
  /** Chooses an agent or not; with `range` also all between it and the one before. */
  readonly toggle: (id: string, range: boolean) => void;
  readonly toggleAll: () => void;
  readonly clear: () => void;
}

/** The agents that were ticked. An agent that a filter hides is not chosen: nobody acts on what they do not see. */
export function useSelection(shown: readonly Agent[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const chosen = useMemo(() => shown.filter(({ id }) => ids.has(id)), [shown, ids]);
  const toggle = (id: string, range: boolean): void => {
    const next = new Set(ids);
    const isChosen = !ids.has(id);
    for (const each of range ? between(shown, last.current, id) : [id]) {
      if (isChosen) next.add(each);
      else next.delete(each);
    }
    last.current = id;
    setIds(next);
  };
  return {
    ids,
    chosen,
    toggle,
    toggleAll: () => setIds(chosen.length === shown.length ? new Set() : new Set(shown.map(({ id }) => id))),
    clear: () => setIds(new Set()),
  };
}

function between(shown: readonly Agent[], from: string | undefined, to: string): readonly string[] {
  const ends = [from, to].map((end) => shown.findIndex(({ id }) => id === end));
  if (ends.includes(-1)) return [to];
  return shown.slice(Math.min(...ends), Math.max(...ends) + 1).map(({ id }) => id);
}
