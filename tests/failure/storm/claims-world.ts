/**
 * For storms of kill -9: processes that make turns of what waits in the store, the agents whose turns those are, and one gateway at which
 * all of them answer. The agents have no machines.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeAgentId } from '@lodge/domain';
import { execute, testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import type { TurnsJob } from './turns.ts';
import { Workers } from './workers.ts';

/** The facts in the host's line before a prompt that are checked. */
export interface Told {
  readonly attempt: number;
  readonly mayHaveActed: boolean;
}

export interface ClaimsWorldOptions {
  readonly of: TurnsJob['of'];
  /** An answer takes at most so many milliseconds. */
  readonly answerMs: number;
  /** Tells by its conversation or its text which work a prompt is about. */
  readonly subjectOf: (conversation: string, prompt: string) => string;
}

export class ClaimsWorld {
  readonly database: TestDatabase;
  /** Prompts that agents were told, by the work they are about. An answer says its work as well. */
  readonly told = new Map<string, Told[]>();
  readonly workers: Workers;
  private readonly options: ClaimsWorldOptions;
  private readonly gateway: Server;

  private constructor(
    made: { database: TestDatabase; gateway: Server; workers: Workers },
    options: ClaimsWorldOptions,
  ) {
    this.database = made.database;
    this.gateway = made.gateway;
    this.workers = made.workers;
    this.options = options;
  }

  /** With an account `a`. */
  static async open(options: ClaimsWorldOptions): Promise<ClaimsWorld> {
    const database = await testDatabase();
    const gateway = createServer();
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/v1`;
    const { connectionString } = database;
    const workers = new Workers({ of: options.of, connectionString, gatewayUrl });
    const world = new ClaimsWorld({ database, gateway, workers }, options);
    gateway.on('request', (request, response) => void world.answer(request, response).catch(() => undefined));
    await world.query(`insert into accounts (id, name, role) values ('a', 'a', 'owner')`);
    return world;
  }

  async close(): Promise<void> {
    this.workers.close();
    this.gateway.closeAllConnections();
    this.gateway.close();
    await this.database.drop();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages } = (await json(request)) as { readonly messages: readonly { readonly content: string }[] };
    const subject = this.note(String(request.headers['x-conversation']), messages[0]!.content);
    await sleep(randomInt(this.options.answerMs));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { choices: [{ index: 0, delta: { content: `done: ${subject}` }, finish_reason: null }] };
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }

  query<Row extends object>(sql: string): Promise<Row[]> {
    return execute<Row>(this.database.connectionString, sql);
  }

  /** Gives their ids. */
  async makeAgents(count: number): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, () => makeAgentId(randomInt));
    for (const id of ids) {
      await this.query(
        `insert into agents (id, account_id, name, runtime_kind, model, size, idle_timeout_seconds, stop_after_seconds, keep_awake,
           auto_resume, auto_start, wake_on_message, metadata, created_at, updated_at, status, host, acknowledged, vm_address, execution_id)
         values ('${id}', 'a', 'a', 'runtime_a', 'p/m', 'small', 1, 1, 'auto', true, true, true, '{}', now(), now(), 'running',
           'here', true, '${id}', '${randomBytes(4).toString('hex')}')`,
      );
    }
    return ids;
  }

  /** An attempt after the first knows that the work may have been begun. */
  checkTold(subject: string, { status, attempts, reason }: EndedWork, { success, times }: Expected): void {
    const prompts = this.told.get(subject) ?? [];
    assert.ok(status === success || reason !== null, `${subject} is ${status} without a reason`);
    assert.ok(prompts.length <= attempts, `${subject} was told ${prompts.length} times in ${attempts} attempts`);
    assert.ok(prompts.length <= times, `${subject} was told ${prompts.length} times`);
    if (status === success) assert.ok(prompts.length >= 1, `${subject} is ${success}, and its agent was told nothing`);
    // One before it may have come to nothing without a word to the agent.
    for (const [n, { attempt, mayHaveActed }] of prompts.entries()) {
      const isRight = n === 0 ? attempt > 1 || !mayHaveActed : mayHaveActed;
      assert.ok(isRight, `${subject}: attempt ${attempt} says ${mayHaveActed}`);
    }
  }

  private note(conversation: string, prompt: string): string {
    const facts = JSON.parse(/^\[[a-z ]+ (\{.*\})\]$/m.exec(prompt)![1]!) as Record<string, unknown>;
    const subject = this.options.subjectOf(conversation, prompt);
    const of = this.told.get(subject) ?? [];
    of.push({ attempt: Number(facts['attempt'] ?? 1), mayHaveActed: facts['earlier_attempt_may_have_acted'] === true });
    this.told.set(subject, of);
    return subject;
  }
}

interface Expected {
  readonly success: string;
  /** How often an agent may be told it. */
  readonly times: number;
}

export interface EndedWork {
  readonly status: string;
  readonly attempts: number;
  readonly reason: string | null;
}
