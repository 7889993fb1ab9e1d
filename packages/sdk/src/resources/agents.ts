import { ApiError, ConnectionError, StateError, TimeoutError } from '../errors.ts';
import { AgentExport } from '../http/export.ts';
import { follow } from '../http/follow.ts';
import type { Pages } from '../http/page.ts';
import { backoff, pause } from '../http/retry.ts';
import { sendable, Upload } from '../http/upload.ts';
import type { FileBody, OnProgress } from '../http/upload.ts';
import { agentPath } from '../http/url.ts';
import type { CallOptions, FollowOptions, IfMatch, WithQuery } from '../options.ts';
import type {
  Agent,
  AgentList,
  CreateAgent,
  DeletedAgent,
  ExportAgent,
  Fork,
  ForkAgent,
  ImportedAgent,
  LlmKeyChecks,
  LogEntry,
  LogList,
  UpdateAgent,
} from '../types.ts';
import { Resource, split } from './resource.ts';
import type { QueryOf } from './resource.ts';

/** The service waits 60 s for a machine, unless its operator says otherwise. */
const waitMs = 150_000;
/** The agent is saved before, in which a turn ends. */
const forkMs = 300_000;
/** All folders of the agent are read before the first byte of an export comes, and before an import is answered. */
const portableMs = 25 * 60_000;
const defaultUntilMs = 10 * 60_000;
const lookSeconds = 25;

type Wait = WithQuery<QueryOf<'startAgent'>>;
type Body = Readonly<Record<string, never>>;
type Status = 'running' | 'paused' | 'stopped';

export interface ImportOptions extends WithQuery<QueryOf<'importAgent'>> {
  /** Opens a sealed file. */
  readonly passphrase?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

export class Agents extends Resource {
  /** Creates an agent. The reply comes once it runs, or after a minute as it is then; `wait: false` does not wait. */
  create(body: CreateAgent, options?: WithQuery<QueryOf<'createAgent'>>): Promise<Agent> {
    return this.postJson('/agents', body, options, { slowMs: waitMs });
  }

  list(query?: QueryOf<'listAgents'>, options?: CallOptions): Pages<AgentList> {
    return this.pagesOf('/agents', options, query);
  }

  get(id: string, options?: WithQuery<QueryOf<'getAgent'>>): Promise<Agent> {
    return this.getJson(agentPath(id), options);
  }

  update(id: string, body: UpdateAgent, options?: CallOptions & IfMatch): Promise<Agent> {
    return this.sendJson('PATCH', agentPath(id), options, { body });
  }

  /** Deletes the agent with its machine and files. */
  delete(id: string, options?: WithQuery<QueryOf<'deleteAgent'>>): Promise<DeletedAgent> {
    return this.sendJson('DELETE', agentPath(id), options, { slowMs: waitMs });
  }

  /**
   * Makes agents that go on from where this one is, or was at a snapshot. The reply comes once they run, or after a minute as
   * they are then; `wait: false` waits for the save alone.
   */
  fork(id: string, body: ForkAgent = {}, options?: Wait): Promise<Fork> {
    return this.postJson(agentPath(id, 'fork'), body, options, { slowMs: forkMs });
  }

  /** Exports an agent, or a snapshot of it, as one file, which is sealed where there is a `passphrase`. Read what this resolves to. */
  async exportFile(
    id: string,
    body: ExportAgent = {},
    options: WithQuery<QueryOf<'exportAgent'>> = {},
  ): Promise<AgentExport> {
    const { call, rest } = split(options);
    const path = agentPath(id, 'export');
    return new AgentExport(await this.http.open({ method: 'POST', path, query: rest, body, slowMs: portableMs }, call));
  }

  /** Makes an agent of the file of an export. `wait: false` does not wait until it runs. */
  async importFile(
    file: FileBody | Upload,
    { passphrase, onProgress, ...options }: ImportOptions = {},
  ): Promise<ImportedAgent> {
    const upload = file instanceof Upload ? file : new Upload(await sendable(file), { onProgress });
    const headers = { 'content-type': 'application/octet-stream', 'x-passphrase': passphrase };
    return this.sendJson<ImportedAgent>('POST', '/agents/import', options, {
      upload,
      headers,
      isKeyed: true,
      slowMs: portableMs,
    });
  }

  start(id: string, body?: Body, options?: Wait): Promise<Agent> {
    return this.#act(id, 'start', body, options);
  }

  stop(id: string, body?: Body, options?: Wait): Promise<Agent> {
    return this.#act(id, 'stop', body, options);
  }

  pause(id: string, body?: Body, options?: Wait): Promise<Agent> {
    return this.#act(id, 'pause', body, options);
  }

  resume(id: string, body?: Body, options?: Wait): Promise<Agent> {
    return this.#act(id, 'resume', body, options);
  }

  restart(id: string, body?: Body, options?: Wait): Promise<Agent> {
    return this.#act(id, 'restart', body, options);
  }

  /** Moves the agent to the newest image. */
  upgrade(id: string, body?: Body, options?: Wait): Promise<Agent> {
    return this.#act(id, 'upgrade', body, options);
  }

  /** Asks each provider whether it takes the agent's key. */
  checkLlmKeys(id: string, body?: Body, options?: CallOptions): Promise<LlmKeyChecks> {
    return this.postJson(agentPath(id, 'llm_keys', 'check'), body, options, { slowMs: waitMs });
  }

  /** A page of the agent's log, newest first. */
  logs(id: string, query?: QueryOf<'listAgentLogs'>, options?: CallOptions): Pages<LogList> {
    return this.pagesOf(agentPath(id, 'logs'), options, query);
  }

  /**
   * The agent's log as it grows: first the newest `limit` entries (all from `since` on when that is given alone), then each
   * as it comes. It goes on where it was after a cut.
   */
  followLogs(
    id: string,
    query: Omit<QueryOf<'listAgentLogs'>, 'follow' | 'cursor' | 'until' | 'direction'> = {},
    options: FollowOptions = {},
  ): AsyncGenerator<LogEntry, void> {
    return follow(this.http, { path: agentPath(id, 'logs'), query, options });
  }

  /**
   * The agent, once it is in this status. Rejects with a `StateError` if it ends in `error`, and with a `TimeoutError` after
   * `timeoutMs`, 10 minutes by default.
   */
  async waitUntil(id: string, status: Status, options: CallOptions = {}): Promise<Agent> {
    const { timeoutMs = defaultUntilMs, ...others } = options;
    const until = performance.now() + timeoutMs;
    for (let failures = 0; ; failures += 1) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw new TimeoutError(`The agent is not ${status} after ${timeoutMs} ms.`);
      const timeout = Math.max(1, Math.min(lookSeconds, Math.ceil(leftMs / 1000)));
      try {
        const agent = await this.get(id, { ...others, wait_for: status, timeout });
        if (agent.status === status) return agent;
        if (agent.status === 'error') {
          throw new StateError(`The agent is in error: ${agent.status_reason?.message ?? 'no reason is known'}`);
        }
      } catch (error) {
        const isPassing = error instanceof ApiError ? error.status >= 500 : error instanceof ConnectionError;
        if (!isPassing) throw error;
      }
      await pause(Math.min(Math.max(0, until - performance.now()), backoff(failures, 100, 2_000)), options.signal);
    }
  }

  #act(id: string, verb: string, body: Body | undefined, options: Wait | undefined): Promise<Agent> {
    return this.postJson(agentPath(id, verb), body, options, { slowMs: waitMs });
  }
}
