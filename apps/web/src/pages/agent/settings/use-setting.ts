/**
 * A group of settings that is edited and saved together. The typed text is kept with the values that it began from. Others may
 * change the agent meanwhile: a change of other settings does not matter, and a change of these is shown before anything is
 * saved.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Agent, UpdateAgent } from '@lodge/sdk';
import { change, hasCode, lodge } from '../../../api.ts';
import { useKept } from '../../../components/form/use-kept.ts';
import { toast } from '../../../components/toasts/toasts.tsx';
import { useAccount } from '../../../session.ts';
import { putAgentRow } from '../../agents/queries.ts';
import { agentQuery } from '../queries.ts';
import { settingsQuery } from './queries.ts';
import type { Versioned } from './queries.ts';

/** Values of a form that JSON can hold. */
export type Values = Readonly<Record<string, unknown>>;

export interface Kind<V extends Values> {
  /** Names the group in the browser's storage. */
  readonly id: string;
  readonly name: string;
  readonly of: (agent: Agent) => V;
  /** The request that leads from the values before to these. */
  readonly patch: (values: V, before: V) => UpdateAgent;
  /** The problems, by the value's name. */
  readonly check?: (values: V) => Partial<Record<keyof V, string | undefined>>;
}

interface Edit<V> {
  readonly values: V;
  readonly before: V;
}

export interface Setting<V extends Values> {
  readonly values: V;
  readonly set: (part: Partial<V>) => void;
  readonly problems: Partial<Record<keyof V, string | undefined>>;
  /** How often a save was refused for its problems. */
  readonly refusals: number;
  readonly isChanged: boolean;
  /** The values that somebody else gave these settings meanwhile; null when nobody did. */
  readonly theirs: V | null;
  readonly keepMine: () => void;
  readonly discard: () => void;
  readonly save: () => void;
  readonly isPending: boolean;
  readonly failure: unknown;
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The machine and its state change often, and each change has another ETag. */
const maxTries = 4;

export function useSetting<V extends Values>(record: Versioned, kind: Kind<V>): Setting<V> {
  const { agent } = record;
  const { id: accountId } = useAccount();
  const kept = useKept(`lodge:settings:${accountId}:${agent.id}:${kind.id}`, (found) =>
    editOf<V>(found, kind.of(agent)),
  );
  const [problems, setProblems] = useState<Setting<V>['problems']>({});
  const [refusals, setRefusals] = useState(0);
  const live = kind.of(agent);
  const edit = kept.value;
  const values = edit?.values ?? live;
  const theirs = edit !== null && !same(live, edit.before) && !same(live, edit.values) ? live : null;
  const mutation = useSave(record, kind, kept.drop);
  return {
    values,
    problems,
    refusals,
    theirs,
    isChanged: edit !== null,
    isPending: mutation.isPending,
    failure: mutation.error,
    set(part) {
      const next = { ...values, ...part };
      const before = edit?.before ?? live;
      kept.set(same(next, before) ? null : { values: next, before });
      setProblems(
        ({ ...others }) =>
          Object.fromEntries(Object.entries(others).filter(([name]) => !(name in part))) as typeof others,
      );
    },
    keepMine: () => kept.set({ values, before: live }),
    discard() {
      mutation.reset();
      setProblems({});
      kept.drop();
    },
    save() {
      if (mutation.isPending || edit === null || theirs !== null) return;
      const found = kind.check?.(values) ?? {};
      const isWrong = Object.values(found).some((problem) => problem !== undefined);
      setProblems(isWrong ? found : {});
      if (isWrong) setRefusals((count) => count + 1);
      else mutation.mutate(edit);
    },
  };
}

/** An edit of before a reload; one of an older page, with other values, is dropped. */
function editOf<V extends Values>(kept: unknown, live: V): Edit<V> | null {
  if (typeof kept !== 'object' || kept === null || !('values' in kept) || !('before' in kept)) return null;
  const fits = (values: unknown): boolean =>
    typeof values === 'object' && values !== null && same(Object.keys(values).toSorted(), Object.keys(live).toSorted());
  return fits(kept.values) && fits(kept.before) ? (kept as unknown as Edit<V>) : null;
}

/** Somebody changed the very settings that are to be saved: the page shows theirs, and nothing was sent. */
class Conflict extends Error {}

function useSave<V extends Values>({ agent: { id }, etag }: Versioned, kind: Kind<V>, saved: () => void) {
  const client = useQueryClient();
  const query = settingsQuery(id);
  const mutation = useMutation({
    mutationFn: async ({ values, before }: Edit<V>): Promise<Agent> => {
      let ifMatch = etag;
      for (let tries = 1; ; tries += 1) {
        try {
          return await change(() => lodge.agents.update(id, kind.patch(values, before), { ifMatch }));
        } catch (error) {
          if (!hasCode(error, 'precondition_failed') || tries === maxTries) throw error;
        }
        const fresh = await client.fetchQuery(query);
        if (!same(kind.of(fresh.agent), before)) throw new Conflict();
        ifMatch = fresh.etag;
      }
    },
    onSuccess: (agent) => {
      saved();
      client.setQueryData<Versioned>(query.queryKey, (old) => ({ agent, etag: old?.etag }));
      client.setQueryData(agentQuery(id).queryKey, agent);
      putAgentRow(client, id, agent);
      toast(`${kind.name}: saved.`);
      return client.invalidateQueries(query);
    },
  });
  return { ...mutation, error: mutation.error instanceof Conflict ? null : mutation.error };
}
