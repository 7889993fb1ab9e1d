import { openSession } from '../../http/socket.ts';
import { agentPath } from '../../http/url.ts';
import type { CallOptions } from '../../options.ts';
import { Resource, split } from '../resource.ts';
import type { QueryOf } from '../resource.ts';
import { TerminalSession } from './terminal-session.ts';

export type OpenTerminal = QueryOf<'openAgentTerminal'>;

export class Terminals extends Resource {
  /** Opens a shell on the agent's machine. It ends with its connection, with all that runs in it. */
  open(agentId: string, query: OpenTerminal = {}, options: CallOptions = {}): Promise<TerminalSession> {
    const address = {
      path: agentPath(agentId, 'terminal'),
      query: split({ query }).rest,
      protocol: 'lodge.terminal',
    };
    return openSession(this.http, address, options, (socket) => new TerminalSession(socket));
  }
}
