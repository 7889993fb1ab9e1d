import { useMutation } from '@tanstack/react-query';
import type { CreateLink } from '@lodge/sdk';
import { portChanges } from './queries.ts';

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
