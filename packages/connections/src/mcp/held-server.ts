/** One MCP connection of one agent, while it is in use: its session, and the tools that were last listed. */
import type { Json } from '@lodge/domain';
import type { McpServer, McpWay } from './guarded-fetch.ts';
import { Session, isUnknownSession } from './session.ts';
import type { ServerTool } from './tools.ts';

type Tools = ReadonlyMap<string, ServerTool>;

export class HeldServer {
  readonly revision: string;
  readonly #way: McpWay;
  readonly #server: McpServer;
  readonly #connection: string;
  #session: Promise<Session> | null = null;
  #listed: { readonly tools: Tools; readonly atMs: number } | null = null;
  #listing: Promise<Tools> | null = null;
  #failedAtMs = -Infinity;
  usedAtMs = performance.now();

  constructor(way: McpWay, server: McpServer, of: { readonly name: string; readonly revision: string }) {
    this.#way = way;
    this.#server = server;
    this.#connection = of.name;
    this.revision = of.revision;
  }

  /** Those last listed while they are fresh; old ones for a while, where the server does not answer. Rejects where there are none. */
  async tools(): Promise<Tools> {
    const now = performance.now();
    this.usedAtMs = now;
    const { freshMs, staleMs, retryMs } = this.#way.bounds;
    const age = this.#listed === null ? Infinity : now - this.#listed.atMs;
    if (age < freshMs) return this.#listed!.tools;
    const mayAsk = now - this.#failedAtMs >= retryMs;
    if (age < staleMs) {
      if (mayAsk) this.#list().catch(() => undefined);
      return this.#listed!.tools;
    }
    if (!mayAsk) throw new Error('the server failed a moment ago');
    return this.#list();
  }

  /** Rejects with what the server said, or what kept it from answering. A call that may have been taken up is not repeated. */
  async call(name: string, args: Json, signal: AbortSignal): Promise<Json> {
    this.usedAtMs = performance.now();
    try {
      return await (await this.#open()).call(name, args, signal);
    } catch (error) {
      if (!isUnknownSession(error)) throw error;
      await this.end();
      return await (await this.#open()).call(name, args, signal);
    }
  }

  #list(): Promise<Tools> {
    this.#listing ??= this.#listNow().finally(() => (this.#listing = null));
    return this.#listing;
  }

  async #listNow(): Promise<Tools> {
    try {
      const tools = await this.#listOnce().catch(async () => {
        // It may have been started anew, and know nothing of the session.
        await this.end();
        return this.#listOnce();
      });
      this.#listed = { tools, atMs: performance.now() };
      return tools;
    } catch (error) {
      this.#failedAtMs = performance.now();
      await this.end();
      throw error;
    }
  }

  async #listOnce(): Promise<Tools> {
    return (await this.#open()).tools(this.#connection);
  }

  #open(): Promise<Session> {
    if (this.#session !== null) return this.#session;
    const opening = Session.open(this.#way, this.#server);
    this.#session = opening;
    // The next one tries anew.
    opening.catch(() => {
      if (this.#session === opening) this.#session = null;
    });
    return opening;
  }

  /** Never rejects. The next call opens another session. */
  async end(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    this.#session = null;
    await session?.end();
  }
}
