import { queryOptions, useMutation } from '@tanstack/react-query';
import type { CreateLink, PublishPort } from '@lodge/sdk';
import { change, list, lodge } from '../../../api.ts';

export const portsQuery = (agentId: string) =>
  queryOptions({ queryKey: ['agent', agentId, 'ports'], queryFn: () => list(lodge.ports.list(agentId)) });

export const portChanges = (agentId: string) => ({
  publish: (body: PublishPort) => change(() => lodge.ports.publish(agentId, body)),
  unpublish: (port: number) => change(() => lodge.ports.unpublish(agentId, port)),
  link: (body: CreateLink) => change(() => lodge.links.create(agentId, body)),
});

/**
 * Opens a page of an agent in a tab of its own, by a link that works once. The tab is opened in the click, because browsers
 * open none later, and gets no handle of this page.
 */
export function useOpenPage(agentId: string) {
  return useMutation({
    mutationFn: async (page: CreateLink) => {
      const tab = window.open('about:blank', '_blank');
      if (tab !== null) tab.opener = null;
      try {
        const { url } = await portChanges(agentId).link(page);
        if (tab === null) location.assign(url);
        else tab.location.href = url;
      } catch (error) {
        tab?.close();
        throw error;
      }
    },
  });
}
