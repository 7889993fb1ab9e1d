import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '@lodge/domain';
import type { Log } from '@lodge/ports';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { DatabaseConfig } from './connection.ts';
import { connectClient } from './connection.ts';
import type { Transaction } from './database.ts';
import { storedResources } from '../resources.ts';

/**
 * Called with the id of a changed agent, key, account or mailbox, as the topic says. Null means that anything may have
 * changed.
 */
export type ChangeListener = (id: string | null) => void;

export type Topic = (typeof storedResources)[number]['topics'][number];
const topics = storedResources.flatMap(({ topics: own }): readonly Topic[] => own);

/** Notifies the listeners of these topics, by the id of what changed, once the transaction is committed. */
export async function notify(trx: Transaction, id: string, ...changed: readonly Topic[]): Promise<void> {
  await sql`select pg_notify(topic, ${id}) from unnest(${changed}::text[]) topic`.execute(trx);
}

interface Listening {
  readonly client: Client;
  /** Aborts when the connection ends. */
  readonly lost: AbortSignal;
}

const retries = { firstMs: 50, maxMs: 2_000 };
/** Interval of checks, because a connection may die silently (a network that drops, a server that hangs). */
const heartbeatMs = 15_000;
const heartbeatTimeoutMs = 5_000;

/**
 * Listens, on a separate connection, for the notifications of each commit: of agents and keys from their triggers, of logs,
 * events and channels from their writers.
 */
export class Changes {
  private readonly config: DatabaseConfig;
  private readonly log: Log;
  private readonly listeners = new Map<string, Set<ChangeListener>>(topics.map((topic) => [topic, new Set()]));
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

  on(topic: Topic, listener: ChangeListener): () => void {
    // The same function given twice makes two subscriptions.
    const own: ChangeListener = (id) => listener(id);
    const listeners = this.listeners.get(topic)!;
    listeners.add(own);
    return () => listeners.delete(own);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(first: Listening): Promise<void> {
    for (let now: Listening | null = first; now; now = await this.listenAgain()) {
      if (now !== first) for (const topic of topics) this.tell(topic, null);
      await this.untilLost(now);
      // It is not awaited, because a lost other end does not answer.
      now.client.end().catch(() => undefined);
    }
  }

  private async listen(): Promise<Listening> {
    const client = await connectClient(this.config, heartbeatTimeoutMs);
    const lost = new AbortController();
    client.once('end', () => lost.abort());
    client.on('notification', ({ channel, payload }) => this.tell(channel, payload ?? null));
    try {
      await client.query(topics.map((topic) => `listen ${topic}`).join('; '));
      return { client, lost: lost.signal };
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }

  private async listenAgain(): Promise<Listening | null> {
    for (let tries = 1; !this.closing.signal.aborted; tries += 1) {
      try {
        return await this.listen();
      } catch (error) {
        const retryMs = backoffMs(retries, tries);
        this.log.warn({ err: error, retry_ms: retryMs }, 'not listening for changes');
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

  private tell(topic: string, id: string | null): void {
    for (const listener of this.listeners.get(topic) ?? []) {
      try {
        listener(id);
      } catch (error) {
        this.log.error({ err: error, topic, id }, 'a listener for changes failed');
      }
    }
  }
}
