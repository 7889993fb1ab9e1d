/** Which agents the list shows, and in which order: what its address says. */
import { runtimeKinds } from '@lodge/contract/words';
import type { Agent } from '@lodge/sdk';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';

export const sortKeys = ['name', 'status', 'model', 'active', 'spend', 'created'] as const;
export type SortKey = (typeof sortKeys)[number];
export type Direction = 'asc' | 'desc';

/** The search of the page's address. A field that is left out narrows nothing. */
export interface AgentsView {
  readonly q?: string;
  readonly status?: Agent['status'];
  readonly runtime?: Agent['runtime_kind'];
  /** `key=value`. */
  readonly label?: string;
  readonly sort?: SortKey;
  readonly dir?: Direction;
}

export const statuses = [
  'running',
  'paused',
  'stopped',
  'provisioning',
  'error',
] as const satisfies readonly Agent['status'][];

const oneOf = <Value extends string>(values: readonly Value[], given: unknown): Value | undefined =>
  values.find((value) => value === given);

/** The order of a column that was not turned round: names from A on, times and amounts from the largest on. */
export const usualDirection = (sort: SortKey): Direction =>
  ['name', 'status', 'model'].includes(sort) ? 'asc' : 'desc';

export function viewOf(search: Readonly<Record<string, unknown>>): AgentsView {
  const { q, label } = search;
  const status = oneOf(statuses, search['status']);
  const runtime = oneOf(runtimeKinds, search['runtime']);
  const sort = oneOf(sortKeys, search['sort']);
  const dir = oneOf(['asc', 'desc'] as const, search['dir']);
  return {
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 200) }),
    ...(status && { status }),
    ...(runtime && { runtime }),
    ...(typeof label === 'string' && label !== '' && { label: label.slice(0, 200) }),
    ...(sort && { sort }),
    ...(dir && { dir }),
  };
}

export const labelText = (name: string, value: string): string => (value === '' ? name : `${name}=${value}`);

export const labelsOf = (agent: Agent): string[] =>
  Object.entries(agent.labels).map(([name, value]) => labelText(name, value));

/** All labels that the agents have, most used first. */
export function usedLabels(agents: readonly Agent[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const label of agents.flatMap(labelsOf)) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].toSorted(([a, times], [b, more]) => more - times || compare(a, b)).map(([label]) => label);
}

function matches(agent: Agent, { q, status, runtime, label }: AgentsView, words: readonly string[]): boolean {
  if (status !== undefined && agent.status !== status) return false;
  if (runtime !== undefined && agent.runtime_kind !== runtime) return false;
  if (label !== undefined && !labelsOf(agent).includes(label)) return false;
  if (q === undefined) return true;
  const text = [agent.name, agent.id, agent.model, agent.size, agent.description ?? '', ...labelsOf(agent)]
    .join('\n')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const names = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

type Spend = ReadonlyMap<string, string>;

const orders: Readonly<Record<SortKey, (a: Agent, b: Agent, spend: Spend) => number>> = {
  name: (a, b) => names.compare(a.name, b.name),
  status: (a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status),
  model: (a, b) => names.compare(a.model, b.model),
  active: (a, b) => compare(a.last_active_at ?? '', b.last_active_at ?? ''),
  spend: (a, b, spend) => Number(spend.get(a.id) ?? 0) - Number(spend.get(b.id) ?? 0),
  created: (a, b) => compare(a.created_at, b.created_at),
};

/** The agents that the view shows, in its order; the newest first by default. */
export function shownAgents(agents: readonly Agent[], view: AgentsView, spend: Spend): readonly Agent[] {
  const words = (view.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const sort = view.sort ?? 'created';
  const sign = (view.dir ?? usualDirection(sort)) === 'asc' ? 1 : -1;
  return agents
    .filter((agent) => matches(agent, view, words))
    .toSorted((a, b) => sign * orders[sort](a, b, spend) || compare(b.created_at, a.created_at));
}

/** Whether anything narrows the list. */
export const isNarrowed = ({ q, status, runtime, label }: AgentsView): boolean =>
  [q, status, runtime, label].some((part) => part !== undefined);

const route = getRouteApi('/app/agents');

export type ChangeView = (view: { readonly [Part in keyof AgentsView]: AgentsView[Part] | undefined }) => void;

/** The view that the address says. A change replaces the address, so that Back leaves the page. */
export function useView(): readonly [AgentsView, ChangeView] {
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback<ChangeView>(
    (next) => void navigate({ search: viewOf(next), replace: true, resetScroll: false }),
    [navigate],
  );
  return [view, change];
}
