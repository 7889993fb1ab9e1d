import { ConnectionError } from '../errors.ts';
import type { CallOptions, WebSocketClass, WebSocketLike } from '../options.ts';
import type { Transport } from './transport.ts';
import type { Query } from './url.ts';

const openMs = 150_000;

/** One conversation over a WebSocket of the API. */
interface Session {
  /** Whether it was opened. */
  readonly opened: Promise<boolean>;
  readonly closed: Promise<unknown>;
  close(): void;
}

interface Address {
  readonly path: string;
  readonly query: Query;
  readonly protocol: string;
}

/** Opens a WebSocket of the API, and rejects with the API's own error where it is refused. */
export async function openSession<T extends Session>(
  http: Transport,
  { path, query, protocol }: Address,
  { signal, timeoutMs = openMs }: CallOptions,
  over: (socket: WebSocketLike) => T,
): Promise<T> {
  signal?.throwIfAborted();
  const socket = socketTo(http, http.url({ path, query }), protocol);
  socket.binaryType = 'arraybuffer';
  const session = over(socket);
  const abort = (): void => session.close();
  signal?.addEventListener('abort', abort, { once: true });
  void session.closed.then(() => signal?.removeEventListener('abort', abort));
  const timer = setTimeout(abort, timeoutMs);
  const isOpen = await session.opened.finally(() => clearTimeout(timer));
  signal?.throwIfAborted();
  if (!isOpen) throw await whyNot(http, path, signal);
  return session;
}

function socketTo({ apiKey, options }: Transport, url: string, protocol: string): WebSocketLike {
  const given = options.webSocket ?? (globalThis as { WebSocket?: unknown }).WebSocket;
  if (given === undefined) {
    throw new ConnectionError(
      'This platform has no WebSocket: give one as `webSocket`, that of the package ws for example.',
      { mayHaveBeenSent: false },
    );
  }
  const page = (globalThis as { location?: { href: string } }).location?.href;
  const address = new URL(url, page);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  // Every platform can offer subprotocols; few can set headers.
  return new (given as WebSocketClass)(
    address.href,
    apiKey === undefined ? [protocol] : [protocol, `bearer.${apiKey}`],
  );
}

/** A WebSocket tells nothing of a refusal. The same request without one is refused for the same reason. */
async function whyNot(http: Transport, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  const refused = await http.json({ method: 'GET', path }, { signal, maxRetries: 0 }).catch((error: unknown) => error);
  const isOther = refused instanceof Error && (refused as { code?: unknown }).code !== 'invalid_request';
  if (isOther) return refused;
  return new ConnectionError('The connection could not be opened: its agent may not be running.');
}
