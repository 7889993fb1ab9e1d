import { queryOptions, useMutation } from '@tanstack/react-query';
import { change, lodge, read } from '../../../api.ts';

/** The browser's own pages come and go without an event. */
const lookEveryMs = 5_000;

export const browserQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'browser'],
    queryFn: () => read(lodge.browsers.get(agentId)),
    refetchInterval: lookEveryMs,
  });

export const useWantBrowser = (agentId: string) =>
  useMutation({ mutationFn: (browser: boolean) => change(() => lodge.agents.update(agentId, { browser })) });

export const useReleaseControl = (agentId: string) =>
  useMutation({ mutationFn: () => change(() => lodge.browsers.releaseControl(agentId)) });
