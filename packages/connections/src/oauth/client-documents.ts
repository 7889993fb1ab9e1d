import type { ClientDocuments } from '@lodge/ports';
import { oauthFetch } from './oauth-fetch.ts';
import type { OAuthWay } from './oauth-fetch.ts';

const never = new AbortController().signal;

/** Reads documents of OAuth clients. Strangers choose their addresses, so only public ones are reached, whatever is allowed. */
export function createClientDocuments(way: Omit<OAuthWay, 'privateAddresses'>): ClientDocuments {
  return {
    async read(url) {
      const fetching = oauthFetch({ ...way, privateAddresses: false }, never);
      try {
        const response = await fetching(url, { headers: { accept: 'application/json' } });
        return response.status === 200 ? await response.json() : null;
      } catch {
        // Whoever asks for a document that cannot be had is told that there is no such client.
        return null;
      }
    },
  };
}
