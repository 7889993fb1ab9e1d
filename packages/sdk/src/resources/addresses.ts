import type { Pages } from '../http/page.ts';
import { openSession } from '../http/socket.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions } from '../options.ts';
import type { CreateLink, DeletedPort, Link, Port, PortList, PublishPort } from '../types.ts';
import { Resource, split } from './resource.ts';
import type { QueryOf } from './resource.ts';
import { TunnelSession } from './machine/tunnel-session.ts';

/** Links that open an agent's own pages in a browser. */
export class Links extends Resource {
  create(agentId: string, body?: CreateLink, options?: CallOptions): Promise<Link> {
    return this.postJson(agentPath(agentId, 'links'), body, options);
  }
}

/** TCP ports of an agent that have an address of their own. */
export class Ports extends Resource {
  list(agentId: string, options?: CallOptions): Pages<PortList> {
    return this.pagesOf(agentPath(agentId, 'ports'), options);
  }

  publish(agentId: string, body: PublishPort, options?: CallOptions): Promise<Port> {
    return this.postJson(agentPath(agentId, 'ports'), body, options);
  }

  unpublish(agentId: string, port: number, options?: CallOptions): Promise<DeletedPort> {
    return this.sendJson('DELETE', agentPath(agentId, 'ports', String(port)), options);
  }

  /** Opens a connection to any TCP port of the agent's machine, published or not. */
  tunnel(
    agentId: string,
    port: number,
    query: QueryOf<'openAgentPortTunnel'> = {},
    options: CallOptions = {},
  ): Promise<TunnelSession> {
    const address = {
      path: agentPath(agentId, 'ports', String(port), 'tunnel'),
      query: split({ query }).rest,
      protocol: 'lodge.tunnel',
    };
    return openSession(this.http, address, options, (socket) => new TunnelSession(socket));
  }
}
