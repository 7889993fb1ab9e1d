import type { Pages } from '../http/page.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type {
  Connection,
  ConnectionList,
  ConnectionOAuthSession,
  DeletedConnection,
  PutConnection,
  StartConnectionOAuth,
} from '../types.ts';
import { Resource } from './resource.ts';

/** Services that an agent uses without holding their credentials. */
export class Connections extends Resource {
  list(agentId: string, options?: CallOptions): Pages<ConnectionList> {
    return this.pagesOf(agentPath(agentId, 'connections'), options);
  }

  get(agentId: string, name: string, options?: CallOptions): Promise<Connection> {
    return this.getJson(agentPath(agentId, 'connections', name), options);
  }

  put(agentId: string, name: string, body: PutConnection, options?: CallOptions): Promise<Connection> {
    return this.sendJson('PUT', agentPath(agentId, 'connections', name), options, { body });
  }

  delete(agentId: string, name: string, options?: CallOptions): Promise<DeletedConnection> {
    return this.sendJson('DELETE', agentPath(agentId, 'connections', name), options);
  }

  /** Begins a consent. Its page is for a browser. */
  startOAuth(
    agentId: string,
    name: string,
    body?: StartConnectionOAuth,
    options?: CallOptions,
  ): Promise<ConnectionOAuthSession> {
    return this.postJson(agentPath(agentId, 'connections', name, 'oauth', 'start'), body, options);
  }
}
