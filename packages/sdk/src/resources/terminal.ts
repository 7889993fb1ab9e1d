import { ConnectionError } from '../errors.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions, WebSocketClass, WebSocketLike } from '../options.ts';
import { Resource, split } from './resource.ts';
import type { QueryOf } from './resource.ts';
import { TerminalSession } from './terminal-session.ts';

export type OpenTerminal = QueryOf<'openAgentTerminal'>;

const openMs = 150_000;

export class Terminals extends Resource {
  /** Opens a shell on the agent's machine. It ends with its connection, with all that runs in it. */
  async open(agentId: string, query: OpenTerminal = {}, options: CallOptions = {}): Promise<TerminalSession> {
    const { signal, timeoutMs = openMs } = options;
    signal?.throwIfAborted();
    const path = agentPath(agentId, 'terminal');
    const socket = this.#socket(this.http.url({ path, query: split({ query }).rest }));
    socket.binaryType = 'arraybuffer';
    const session = new TerminalSession(socket);
    const abort = (): void => session.close();
    signal?.addEventListener('abort', abort, { once: true });
    void session.closed.then(() => signal?.removeEventListener('abort', abort));
    const timer = setTimeout(abort, timeoutMs);
    const isOpen = await session.opened.finally(() => clearTimeout(timer));
    signal?.throwIfAborted();
    if (!isOpen) throw await this.#whyNot(path, options);
    return session;
  }

  #socket(url: string): WebSocketLike {
    const { apiKey, options } = this.http;
    const given = options.webSocket ?? (globalThis as { WebSocket?: unknown }).WebSocket;
    if (given === undefined) {
      throw new ConnectionError(
        'This platform has no WebSocket: give one as `webSocket`, that of the package ws for example.',
        {
          mayHaveBeenSent: false,
        },
      );
    }
    const page = (globalThis as { location?: { href: string } }).location?.href;
    const address = new URL(url, page);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    // Every platform can offer subprotocols; few can set headers.
    return new (given as WebSocketClass)(
      address.href,
      apiKey === undefined ? ['lodge.terminal'] : ['lodge.terminal', `bearer.${apiKey}`],
    );
  }

  /** A WebSocket tells nothing of a refusal. The same request without one is refused for the same reason. */
  async #whyNot(path: string, options: CallOptions): Promise<unknown> {
    const { signal } = options;
    const refused = await this.http
      .json({ method: 'GET', path }, { signal, maxRetries: 0 })
      .catch((error: unknown) => error);
    const isOther = refused instanceof Error && (refused as { code?: unknown }).code !== 'invalid_request';
    if (isOther) return refused;
    return new ConnectionError('The terminal could not be opened: its agent may not be running.');
  }
}
