import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { viewOf } from './view.ts';
import type { AgentsView } from './view.ts';

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
