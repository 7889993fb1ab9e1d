import { lazyRouteComponent } from '@tanstack/react-router';
import { ApiError, api } from '../api.ts';

/**
 * A page whose code comes with its first visit. Code that does not come is mostly a server that is away: then the error says
 * that, and the page is tried again in its place. Else another version of the pages is served, and the router reloads them.
 */
export const lazyPage: typeof lazyRouteComponent = (importer, name) =>
  lazyRouteComponent(async () => {
    try {
      return await importer();
    } catch (error) {
      const reason: unknown = await api.options().catch((unread: unknown) => unread);
      throw reason instanceof ApiError ? reason : error;
    }
  }, name);
