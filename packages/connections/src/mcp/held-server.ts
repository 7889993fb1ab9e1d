/** One MCP connection of one agent while it is in use: its session, and the last list of tools. */
import type { Json } from '@lodge/domain';
import type { ConnectionRow } from '@lodge/ports';
import type { Login } from '../oauth/login.ts';
import { Unauthorized } from '../oauth/login.ts';
import type { Credentials } from '../secret/credentials.ts';
import type { McpWay } from './guarded-fetch.ts';
import { CredentialEchoed, McpRefused } from './mcp-refused.ts';
import { Session, isUnknownSession } from './session.ts';
import type { ServerTool } from './tools.ts';

type Tools = ReadonlyMap<string, ServerTool>;

export class HeldServer {
  readonly revision: string;
  readonly #way: McpWay;
  readonly #url: string;
  readonly #login: Login;
  readonly #row: ConnectionRow;
  #session: Promise<Session> | null = null;
  #listed: { readonly tools: Tools; readonly atMs: number } | null = null;
  #listing: Promise<Tools> | null = null;
  #failed: { readonly error: unknown; readonly atMs: number } | null = null;
  usedAtMs = performance.now();

  constructor(way: McpWay, login: Login, row: ConnectionRow) {
    this.#way = way;
    this.#login = login;
    this.#url = row.url;
    this.#row = row;
    this.revision = row.revision;
  }

  /** Takes the row of the same revision, as read at `asOfMs`. */
  update(row: ConnectionRow, credentials: Credentials, asOfMs: number): void {
    if (this.#login.update(row, credentials, asOfMs)) this.#failed = null;
  }

  /**
   * Returns the last list while it is fresh, and an older one for a while when the server does not answer. Rejects when
   * there is none.
   */
  async tools(): Promise<Tools> {
    const now = performance.now();
    this.usedAtMs = now;
    const { freshMs, staleMs, retryMs } = this.#way.bounds;
    const age = this.#listed === null ? Infinity : now - this.#listed.atMs;
    if (age < freshMs) return this.#listed!.tools;
    const mayAsk = this.#failed === null || now - this.#failed.atMs >= retryMs;
    if (age < staleMs) {
      if (mayAsk) this.#list().catch(() => undefined);
      return this.#listed!.tools;
    }
    if (!mayAsk) throw this.#failed!.error;
    return this.#list();
  }

  /**
   * Calls a tool. Rejects with the server's error, or with the reason why it did not answer. A call that may have been
   * executed is not repeated.
   */
  async call(name: string, args: Json, signal: AbortSignal): Promise<Json> {
    this.usedAtMs = performance.now();
    return this.#loggedIn(async () => {
      try {
        return await (await this.#open()).call(name, args, signal);
      } catch (error) {
        if (error instanceof CredentialEchoed || isUnknownSession(error)) await this.end();
        if (!isUnknownSession(error)) throw error;
        return await (await this.#open()).call(name, args, signal);
      }
    });
  }

  /** Repeats work once when the server only refused access that could be renewed. */
  async #loggedIn<T>(work: () => Promise<T>): Promise<T> {
    await this.#login.ready();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unauthorized) || !(await this.#login.refused(error))) throw error;
      return work();
    }
  }

  #list(): Promise<Tools> {
    this.#listing ??= this.#listNow().finally(() => (this.#listing = null));
    return this.#listing;
  }

  async #listNow(): Promise<Tools> {
    try {
      const tools = await this.#loggedIn(() =>
        this.#listOnce().catch(async (error: unknown) => {
          if (error instanceof McpRefused) throw error;
          // The server may have restarted and know nothing of the session.
          await this.end();
          return this.#listOnce();
        }),
      );
      this.#failed = null;
      this.#listed = { tools, atMs: performance.now() };
      return tools;
    } catch (error) {
      this.#failed = { error, atMs: performance.now() };
      await this.end();
      throw error;
    }
  }

  async #listOnce(): Promise<Tools> {
    return (await this.#open()).tools(this.#row.name);
  }

  #open(): Promise<Session> {
    if (this.#session !== null) return this.#session;
    const opening = Session.open(this.#way, { row: this.#row, url: this.#url, login: this.#login });
    this.#session = opening;
    // The next call tries anew.
    opening.catch(() => {
      if (this.#session === opening) this.#session = null;
    });
    return opening;
  }

  /** Ends the session. Never rejects. The next call opens another session. */
  async end(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    this.#session = null;
    await session?.end();
  }
}
