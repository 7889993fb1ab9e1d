import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { lodge, read } from '../../../api.ts';
import { openFile } from './open-file.ts';

const pageEntries = 500;

/** A folder's entries, a page at a time. Only the person asks for it again: reading it keeps the agent awake. */
export const folderQuery = (agentId: string, path: string) =>
  infiniteQueryOptions({
    queryKey: ['agent', agentId, 'files', 'folder', path],
    queryFn: ({ pageParam, signal }) =>
      read(
        lodge.files
          .list(agentId, { path, limit: pageEntries, ...(pageParam !== null && { cursor: pageParam }) }, { signal })
          .then((page) => page),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });

/** A file as it was when it was opened. The editor asks for it anew when it was changed meanwhile. */
export const fileQuery = (agentId: string, path: string) =>
  queryOptions({
    queryKey: ['agent', agentId, 'files', 'content', path],
    queryFn: ({ signal }) => openFile(agentId, path, signal),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
