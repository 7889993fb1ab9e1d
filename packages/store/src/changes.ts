import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@lodge/engine/ports';
import type { Client } from 'pg';
import type { DatabaseConfig } from './connection.ts';
import { connectClient } from './connection.ts';

/** An agent's id, or null: anything may have changed. */
export type ChangeListener = (agentId: string | null) => void;

const channels = ['agent_changed', 'agent_log_changed', 'api_key_changed'] as const;
export type Channel = (typeof channels)[number];

interface Listening {
  readonly client: Client;
  /** Aborts when the connection ends. */
  readonly lost: AbortSignal;
}

const firstRetryMs = 50;
const lastRetryMs = 2_000;
/** A connection that died without a word (a network that drops, a server that hangs) is found out by asking. */
const heartbeatMs = 15_000;
const heartbeatTimeoutMs = 5_000;

/** Listens, on a connection of its own, for the notifications that come with each commit: of agents from their triggers, of logs from whoever appends. */
export class Changes {
  private readonly config: DatabaseConfig;
  private readonly log: Log;
  private readonly listeners: Readonly<Record<Channel, Set<ChangeListener>>> = {
    agent_changed: new Set(),
    agent_log_changed: new Set(),
    api_key_changed: new Set(),
  };
  private readonly closing = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(config: DatabaseConfig, log: Log) {
    this.config = config;
    this.log = log;
  }

  /** Resolves once every later change will be heard. */
  async start(): Promise<void> {
    this.running = this.run(await this.listen());
  }

  on(channel: Channel, listener: ChangeListener): () => void {
    // A function given twice is two subscriptions.
    const own: ChangeListener = (id) => listener(id);
    this.listeners[channel].add(own);
    return () => this.listeners[channel].delete(own);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(first: Listening): Promise<void> {
    for (let now: Listening | null = first; now; now = await this.listenAgain()) {
      if (now !== first) for (const channel of channels) this.tell(channel, null);
      await this.untilLost(now);
      // Not waited for: the other end may be gone, and then it is not answered.
      now.client.end().catch(() => undefined);
    }
  }

  private async listen(): Promise<Listening> {
    const client = await connectClient(this.config, heartbeatTimeoutMs);
    const lost = new AbortController();
    client.once('end', () => lost.abort());
    client.on('notification', ({ channel, payload }) => this.tell(channel as Channel, payload ?? null));
    try {
      await client.query(channels.map((channel) => `listen ${channel}`).join('; '));
      return { client, lost: lost.signal };
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }

  private async listenAgain(): Promise<Listening | null> {
    for (let retryMs = firstRetryMs; !this.closing.signal.aborted; retryMs = Math.min(retryMs * 2, lastRetryMs)) {
      try {
        return await this.listen();
      } catch (error) {
        this.log.warn({ err: error, retry_ms: retryMs }, 'not listening for changes of agents');
        await sleep(retryMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
    return null;
  }

  private async untilLost({ client, lost }: Listening): Promise<void> {
    const signal = AbortSignal.any([lost, this.closing.signal]);
    let answers = true;
    while (answers && (await sleep(heartbeatMs, true, { signal }).catch(() => false))) {
      answers = await client.query('select 1').then(
        () => true,
        () => false,
      );
    }
  }

  private tell(channel: Channel, agentId: string | null): void {
    for (const listener of this.listeners[channel]) {
      try {
        listener(agentId);
      } catch (error) {
        this.log.error({ err: error, agent_id: agentId }, 'a listener for changes of agents failed');
      }
    }
  }
}
