import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { scopesOfRole } from '@lodge/contract/words';
import type { Scope } from '@lodge/contract/words';
import type { PersonalAccount, SessionBody } from './api.ts';
import { destinationOf, safePath } from './paths.ts';
import { queries } from './queries.ts';

/** The signed-in account. Use it only below the frame, whose route has loaded it. */
export function useAccount(): PersonalAccount {
  return useSuspenseQuery(queries.session).data.account;
}

/** Takes a new session and drops the cache, which belonged to nobody or to another person. */
export function useEnter(): (session: SessionBody, to?: string) => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (session, to) => {
    queryClient.clear();
    queryClient.setQueryData(queries.session.queryKey, session);
    await navigate({ ...destinationOf(safePath(to)), replace: true });
  };
}

/** The scopes of the person's role. */
export const useScopes = (): readonly Scope[] => scopesOfRole[useAccount().role];

/** Whether the person's role may do what needs this scope. Pages offer nothing else. */
export const useMay = (scope: Scope): boolean => useScopes().includes(scope);
