/** MCP connections as tools of their agents. */
import { asObject, policyFor, remoteToolAct, untilAborted } from '@lodge/domain';
import type { CallOutcome, Json, TokenBuckets } from '@lodge/domain';
import { PrivateAddressError } from '@lodge/egress';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { textOfAnswer, toolConfirmed } from '@lodge/ports';
import type {
  CallEnd,
  CallGuard,
  ConnectionDirectory,
  ConnectionRow,
  GuardedCaller,
  Log,
  OfferedTool,
  StoredCall,
  ToolAnswer,
  ToolCalled,
  ToolSource,
} from '@lodge/ports';
import type { CallLog } from '../call-log.ts';
import { rateName } from '../door.ts';
import { deniedByRule } from '../http/confirmed.ts';
import { AccessRefused, Login, Unauthorized } from '../oauth/login.ts';
import type { LoginDeps } from '../oauth/login.ts';
import type { McpWay } from './guarded-fetch.ts';
import { HeldServer } from './held-server.ts';
import { McpRefused } from './mcp-refused.ts';
import { answerOf, connectionOf, failure } from './tools.ts';
import type { ServerTool } from './tools.ts';

export interface SourceDeps extends McpWay {
  readonly directory: ConnectionDirectory;
  readonly logins: LoginDeps;
  readonly rate: TokenBuckets;
  readonly calls: CallLog;
  /** Asks the owner about calls whose policy says so; without it they are refused. */
  readonly guard?: CallGuard;
  readonly log: Log;
}

export interface ClosableToolSource extends ToolSource {
  close(): Promise<void>;
}

const sweepMs = 60_000;

type McpCall = Extract<StoredCall, { readonly kind: 'mcp' }>;

interface Asked {
  readonly row: ConnectionRow;
  readonly asOfMs: number;
  readonly find: (tool: ServerTool) => boolean;
  readonly args: Json;
  readonly signal: AbortSignal;
}

/** `answer` is null where there is no such tool. */
interface Called {
  readonly answer: ToolAnswer | null;
  readonly end: CallOutcome;
}

export class ConnectionTools implements ClosableToolSource {
  readonly #deps: SourceDeps;
  readonly #held = new Map<string, HeldServer>();
  /** Failures that have a line in their agent's log. */
  readonly #logged = new WeakSet<Error>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(deps: SourceDeps) {
    this.#deps = deps;
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs);
    this.#sweeping.unref();
  }

  async tools(agentId: string, signal: AbortSignal): Promise<readonly OfferedTool[]> {
    try {
      const asOfMs = performance.now();
      const rows = (await this.#deps.directory.usable(agentId)).filter(({ kind }) => kind === 'mcp');
      const lists = await Promise.all(rows.map((row) => this.#toolsOf(row, asOfMs, signal)));
      return lists.flat();
    } catch (error) {
      this.#deps.log.warn({ err: error, agent_id: agentId }, 'connections were not looked up');
      return [];
    }
  }

  async call(caller: GuardedCaller, name: string, args: Json, signal: AbortSignal): Promise<ToolAnswer | null> {
    const { agentId } = caller;
    const connection = connectionOf(name);
    const asOfMs = performance.now();
    const row = connection === null ? null : await this.#deps.directory.usableOne(agentId, connection);
    if (row?.kind !== 'mcp') return null;
    const { rate, bounds } = this.#deps;
    const began = performance.now();
    if (!rate.allows(rateName(row), began)) return failure('Too many calls of this connection. Try again shortly.');
    if (Buffer.byteLength(JSON.stringify(args)) > bounds.argumentBytes) return failure('The arguments are too large.');
    const asked: Asked = { row, asOfMs, find: (tool) => tool.name === name, args, signal };
    const { confirmations } = caller;
    if (confirmations === null) return (await this.#ask(asked)).answer;
    const tool = await this.#toolNamed(asked);
    if (tool === undefined) return null;
    if (tool instanceof Error) return failure(sentenceOf(tool));
    const act = remoteToolAct(row.name, tool.serverName);
    const policy = policyFor(confirmations, act);
    if (policy === 'allow') return (await this.#ask(asked)).answer;
    const call = { kind: 'mcp', connection: row.name, url: row.url, tool: tool.serverName, arguments: args } as const;
    const { guard } = this.#deps;
    if (policy === 'deny' || guard === undefined) return failure(deniedByRule().message);
    return toolConfirmed(guard, { caller, act, call, signal }, () => this.#callStored(agentId, call, signal));
  }

  /** Makes a stored call of which no turn waits for the answer. Never rejects. */
  async make({ agentId }: Pick<GuardedCaller, 'agentId'>, call: StoredCall, signal: AbortSignal): Promise<CallEnd> {
    if (call.kind !== 'mcp') return { outcome: 'failed', text: 'It is no tool of a connection.' };
    const { answer, end } = await this.#callStored(agentId, call, signal);
    return { outcome: end, text: textOfAnswer(answer) };
  }

  /** Calls the tool by the connection as it is now, if it still leads where the call was shown to go. */
  async #callStored(agentId: string, call: McpCall, signal: AbortSignal): Promise<ToolCalled> {
    try {
      const asOfMs = performance.now();
      const row = await this.#deps.directory.usableOne(agentId, call.connection);
      const changed = failure('The connection has changed since it was shown: nothing was called.');
      if (row?.kind !== 'mcp' || row.url !== call.url) return { answer: changed, end: 'failed' };
      const find = (tool: ServerTool): boolean => tool.serverName === call.tool;
      const { answer, end } = await this.#ask({ row, asOfMs, find, args: call.arguments, signal });
      return answer === null ? { answer: failure('There is no such tool any more.'), end } : { answer, end };
    } catch (error) {
      return { answer: failure(sentenceOf(error)), end: 'failed' };
    }
  }

  async #toolNamed({ row, asOfMs, find, signal }: Asked): Promise<ServerTool | Error | undefined> {
    try {
      const server = await this.#serverOf(row, asOfMs);
      return offered(row, await untilAborted(server.tools(), signal)).find(find);
    } catch (error) {
      return error instanceof Error ? error : new Error('no tools', { cause: error });
    }
  }

  async #ask({ row, asOfMs, find, args, signal }: Asked): Promise<Called> {
    const { calls, bounds } = this.#deps;
    const { agentId } = row;
    const began = performance.now();
    const server = await this.#serverOf(row, asOfMs);
    let tool: ServerTool | undefined;
    try {
      tool = offered(row, await untilAborted(server.tools(), signal)).find(find);
      if (tool === undefined) return { answer: null, end: 'failed' };
      const result = asObject(await server.call(tool.serverName, args, signal)) ?? {};
      const answer = answerOf(result, bounds);
      calls.write(agentId, 'info', said(row, tool, answer.isError ? 'answered with an error' : 'answered', began));
      return { answer, end: 'done' };
    } catch (error) {
      calls.write(agentId, 'warn', said(row, tool, 'not answered', began));
      return {
        answer: failure(sentenceOf(error)),
        end: tool === undefined || wasRefused(error) ? 'failed' : 'unknown',
      };
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    await Promise.all([...this.#held.values()].map((server) => server.end()));
    this.#held.clear();
  }

  async #toolsOf(row: ConnectionRow, asOfMs: number, signal: AbortSignal): Promise<readonly OfferedTool[]> {
    const enough = AbortSignal.any([signal, AbortSignal.timeout(this.#deps.bounds.turnWaitMs)]);
    try {
      const listed = this.#serverOf(row, asOfMs).then((server) => server.tools());
      const tools = offered(row, await untilAborted(listed, enough));
      return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    } catch (error) {
      if (!signal.aborted) this.#tell(row, enough.aborted ? null : error);
      return [];
    }
  }

  /**
   * Writes one line for each failure, because turns meet the same one while a server is left alone. Null means that nobody
   * waited any longer.
   */
  #tell(row: ConnectionRow, error: unknown): void {
    if (error instanceof Error) {
      if (this.#logged.has(error)) return;
      this.#logged.add(error);
    }
    const why = error === null ? tooSlow : reasonOf(error);
    this.#deps.calls.write(row.agentId, 'warn', `Connection ${row.name}: its tools were not listed. ${why}`);
  }

  /** Returns the server of a row. With another revision nothing of the earlier one is used again. */
  async #serverOf(row: ConnectionRow, asOfMs: number): Promise<HeldServer> {
    const { logins } = this.#deps;
    const credentials = logins.credentials.of(row);
    const key = rateName(row);
    const known = this.#held.get(key);
    const isSame = known?.revision === row.revision;
    if (known && !isSame) void known.end();
    const server = isSame ? known : new HeldServer(this.#deps, new Login(logins, row, credentials, asOfMs), row);
    server.update(row, credentials, asOfMs);
    this.#held.delete(key);
    this.#held.set(key, server);
    if (this.#held.size > this.#deps.bounds.sessions) this.#forget(this.#held.keys().next().value!);
    return server;
  }

  #sweep(): void {
    const now = performance.now();
    for (const [key, { usedAtMs }] of this.#held) if (now - usedAtMs > this.#deps.bounds.idleMs) this.#forget(key);
  }

  #forget(key: string): void {
    void this.#held.get(key)?.end();
    this.#held.delete(key);
  }
}

const offered = ({ tools }: ConnectionRow, listed: ReadonlyMap<string, ServerTool>): readonly ServerTool[] =>
  [...listed.values()].filter(({ serverName }) => tools === null || tools.includes(serverName));

/** Without access nothing was called: it was not asked for, or the server wanted another one. */
const wasRefused = (error: unknown): boolean => error instanceof AccessRefused || error instanceof Unauthorized;

const tooSlow = 'Its server takes its time; they may come with a later turn.';

/** Returns the reason for the owner, without details of internal failures. */
function reasonOf(error: unknown): string {
  if (error instanceof StreamableHTTPError) return `The server answered with status ${error.code}.`;
  return knownReason(error) ?? 'The server did not answer.';
}

/** Returns the sentence for the agent. */
function sentenceOf(error: unknown): string {
  const unknown = 'The server of this connection did not answer, or refused. Its owner can see more in the log.';
  return knownReason(error) ?? unknown;
}

function knownReason(error: unknown): string | null {
  if (error instanceof McpError) return `The server said: ${error.message.slice(0, 1_000).toWellFormed()}`;
  if (error instanceof McpRefused) return error.message;
  if (error instanceof PrivateAddressError) return 'The connection leads to an address that is not public.';
  return null;
}

function said({ name }: ConnectionRow, tool: ServerTool | undefined, end: string, began: number): string {
  const which = tool === undefined ? 'its tools were' : `tool ${JSON.stringify(tool.serverName)} was`;
  return `Connection ${name}: ${which} ${end}, ${Math.round(performance.now() - began)} ms.`;
}
