import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query';
import { ApiError, api, hasCode, lodge, read } from './api.ts';
import type { AuthorizationQuestion } from './api.ts';

export const queries = {
  session: queryOptions({ queryKey: ['session'], queryFn: api.session }),
  options: queryOptions({ queryKey: ['options'], queryFn: api.options, staleTime: 300_000 }),
  link: (token: string) =>
    queryOptions({ queryKey: ['link', token], queryFn: () => api.link(token), refetchOnWindowFocus: false }),
  keys: queryOptions({ queryKey: ['keys'], queryFn: api.keys }),
  sessions: queryOptions({ queryKey: ['sessions'], queryFn: api.sessions }),
  deviceRequest: (code: string) =>
    queryOptions({
      queryKey: ['device', code],
      queryFn: () => api.deviceRequest(code),
      refetchOnWindowFocus: false,
      retry: false,
    }),
  authorization: (question: AuthorizationQuestion) =>
    queryOptions({
      queryKey: ['authorization', question],
      queryFn: () => api.authorization(question),
      refetchOnWindowFocus: false,
      retry: false,
    }),
  grants: queryOptions({ queryKey: ['grants'], queryFn: api.grants }),
  spend: queryOptions({ queryKey: ['spend'], queryFn: api.spend }),
  limits: queryOptions({ queryKey: ['limits'], queryFn: () => read(lodge.service.limits()) }),
  people: queryOptions({ queryKey: ['people'], queryFn: api.people }),
  invitations: queryOptions({ queryKey: ['invitations'], queryFn: api.invitations }),
};

/** Creates a query cache that reports a lost session, except for the query whether there is one. */
export function createQueryClient(onSessionLost: () => void): QueryClient {
  const lost = (error: unknown): void => {
    if (hasCode(error, 'not_signed_in')) onSessionLost();
  };
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        const asking = query.queryKey[0] === 'session' && query.state.data === undefined;
        if (!asking) lost(error);
      },
    }),
    mutationCache: new MutationCache({ onError: lost }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) =>
          failures < 1 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  });
}
