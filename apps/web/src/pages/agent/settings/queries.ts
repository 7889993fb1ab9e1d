import { queryOptions } from '@tanstack/react-query';
import type { Agent } from '@lodge/sdk';
import { lodge, read } from '../../../api.ts';

/** The record with the ETag that names this version of it. */
export interface Versioned {
  readonly agent: Agent;
  readonly etag: string | undefined;
}

export const settingsQuery = (id: string) =>
  queryOptions({
    queryKey: ['agent', id, 'settings'],
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Versioned> => {
      const reply = await read(lodge.request('GET', `/agents/${encodeURIComponent(id)}`, { stream: true, signal }));
      return { agent: (await reply.json()) as Agent, etag: reply.headers.get('etag') ?? undefined };
    },
  });
