/** One Lodge with one runtime and a stub of the provider, and one agent with the calls to it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import type { LlmApi, ToolStep } from '@lodge/ports';
import type { GuestClient } from '@lodge/guest';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service, type Reply } from '@lodge/testkit/service';
import { startStubLlm, type StubLlm, type Wire } from '@lodge/testkit/llm';
import { qemuPid } from '../../../tests/e2e/guest-memory.ts';
import { openMirror, type Mirror } from './mirror.ts';
import { startPlatforms } from './platforms.ts';
import type { Correspondent, Platforms } from './platforms.ts';
import type { Subject } from './subjects.ts';

/** Bound on building images and templates from nothing under emulation, with room to spare. */
export const templateTimeoutMs = 30 * 60_000;
/**
 * For a member's first turn OpenClaw makes a database and two worker threads, 4 s of a processor. Emulated, that took two
 * minutes on a quiet host, and more than five beside other tests.
 */
const turnTimeoutMs = 15 * 60_000;
/** An installed version that is tested instead of Lodge's own: a folder like `<data>/runtimes`, and the version. */
const { CONFORMANCE_INSTALLED: installed, CONFORMANCE_VERSION: version } = process.env;
/** A version that an operator installs is tested. */
export const isInstalled = installed !== undefined;
const marked = (what: string): string => `sk-${what}-${randomBytes(12).toString('hex')}`;

/** The stub as a provider for each API. */
export const stubProviders = {
  'openai-completions': { id: 'stub', wire: 'openai', path: '/v1' },
  'openai-responses': { id: 'stub-responses', wire: 'responses', path: '/v1' },
  'anthropic-messages': { id: 'stub-anthropic', wire: 'anthropic', path: '/v1' },
  'google-generative-ai': { id: 'stub-google', wire: 'google', path: '/v1beta' },
} as const satisfies Record<LlmApi, { id: string; wire: Wire; path: string }>;

export interface World {
  readonly llm: StubLlm;
  readonly platforms: Platforms;
  /** The mirrors that agents' packages come from. */
  readonly mirror: Mirror;
  readonly service: Service;
  /** The settings of its Lodge, for another one like it. */
  readonly env: Readonly<Record<string, string>>;
  /** Keys that the provider accepts. */
  readonly keys: readonly [string, string];
  close(): Promise<void>;
}

export async function openWorld(subject: Subject, env: Readonly<Record<string, string>> = {}): Promise<World> {
  const keys = [marked('first'), marked('second')] as const;
  const llm = await startStubLlm({ keys, strict: true });
  const platforms = await startPlatforms();
  const mirror = await openMirror(`mirrored-${randomBytes(6).toString('hex')}`);
  const closeStubs = async (): Promise<void> => {
    await mirror.close();
    await platforms.close();
    await llm.close();
  };
  const providers = Object.entries(stubProviders).map(([api, { id, path }]) => {
    const models = [{ name: 'any-model', prices: { input: '1', output: '5' } }];
    return { id, api, base_url: `http://127.0.0.1:${llm.port}${path}`, needs_key: true, models };
  });
  const settings = {
    ...platforms.env,
    ...mirror.env,
    LODGE_PROVIDERS: JSON.stringify(providers),
    LODGE_CONNECTION_ADDRESSES: 'any',
    ...env,
  };
  const service = await startService(subject, settings).catch(async (error: unknown) => {
    await closeStubs();
    throw error;
  });
  return {
    llm,
    platforms,
    mirror,
    service,
    env: settings,
    keys,
    async close() {
      await service.destroy();
      await closeStubs();
    },
  };
}

/** Starts an empty Lodge with the runtime. */
export const startService = ({ name }: Subject, env: Readonly<Record<string, string>>): Promise<Service> =>
  Service.start({
    entry: new URL('lodge.ts', import.meta.url),
    env: { CONFORMANCE_RUNTIMES: name, ...env },
    ...(installed !== undefined && {
      prepare: (dataDir: string) => cp(installed, join(dataDir, 'runtimes'), { recursive: true }),
    }),
  });

export interface Turn {
  readonly user?: string;
  /** The member to speak to instead of the agent itself. */
  readonly member?: string;
  readonly query?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A chat that streamed. */
export interface Streamed {
  readonly text: string;
  readonly finish: string | null;
  /** The beginnings and ends of its tools. */
  readonly steps: readonly ToolStep[];
}

/** One agent under test. */
export class Tested {
  readonly world: World;
  readonly id: string;
  /** Secrets, beside provider keys, that may be in no machine. */
  readonly secrets: string[] = [];
  private telegram: Promise<Correspondent> | null = null;

  private constructor(world: World, id: string) {
    this.world = world;
    this.id = id;
  }

  static async create(world: World, subject: Subject, name: string): Promise<Tested> {
    const reply = await world.service.call('POST', '/agents', {
      name,
      runtime_kind: subject.kind,
      model: subject.model('test-model'),
      size: 'small',
      llm_keys: [{ provider: 'stub', api_key: world.keys[0] }],
      // It sleeps only when a test says so, and not because a slow test keeps it waiting.
      lifecycle: { idle_timeout_seconds: 0 },
    });
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    assert.equal(reply.body.status, 'running');
    if (version !== undefined) assert.equal(reply.body.runtime.version, version, 'the version that is tested');
    return new Tested(world, reply.body.id as string);
  }

  /** An agent that something else has made. */
  static of(world: World, id: string): Tested {
    return new Tested(world, id);
  }

  /** An unmodified OpenAI client of this agent. */
  get client(): OpenAI {
    const { baseUrl, apiKey } = this.world.service;
    return new OpenAI({ baseURL: `${baseUrl}/agents/${this.id}`, apiKey, maxRetries: 0, timeout: turnTimeoutMs });
  }

  async say(content: string, turn: Turn = {}): Promise<OpenAI.ChatCompletion> {
    const { user, member, query, signal } = turn;
    const messages = [{ role: 'user' as const, content }];
    const model = member === undefined ? this.id : `${this.id}/${member}`;
    const body = { model, messages, ...(user !== undefined && { user }) };
    return this.client.chat.completions.create(body, { ...(query && { query }), ...(signal && { signal }) });
  }

  async answer(content: string, turn: Turn = {}): Promise<string> {
    return (await this.say(content, turn)).choices[0]!.message.content!;
  }

  async stream(content: string, turn: Turn = {}): Promise<Streamed> {
    const messages = [{ role: 'user' as const, content }];
    const { user, signal } = turn;
    const stream_options = { include_usage: true, include_steps: true };
    const body = { model: 'any', messages, stream: true as const, stream_options, ...(user !== undefined && { user }) };
    const chunks = await this.client.chat.completions.create(body, signal ? { signal } : {});
    let text = '';
    let finish: string | null = null;
    const steps: ToolStep[] = [];
    for await (const chunk of chunks) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      if ('step' in chunk) steps.push(chunk.step as ToolStep);
    }
    return { text, finish, steps };
  }

  /** The last request to the provider, as text. */
  get lastSeen(): string {
    return JSON.stringify(this.world.llm.requests.at(-1)!.body);
  }

  /** Returns a person who writes to it on Telegram. The first call connects the channel. */
  onTelegram(): Promise<Correspondent> {
    return (this.telegram ??= this.connectTelegram());
  }

  private async connectTelegram(): Promise<Correspondent> {
    const person = this.world.platforms.correspondent('telegram');
    await person.connect(this);
    this.keepSecret(person.secrets);
    return person;
  }

  keepSecret(secrets: readonly string[]): void {
    this.secrets.push(...secrets);
  }

  async record(): Promise<Reply['body']> {
    return (await this.world.service.call('GET', `/agents/${this.id}`)).body;
  }

  async patch(change: object): Promise<Reply['body']> {
    const reply = await this.world.service.call('PATCH', `/agents/${this.id}`, change);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body;
  }

  async act(verb: string): Promise<string> {
    const reply = await this.world.service.call('POST', `/agents/${this.id}/${verb}`);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    return reply.body.status as string;
  }

  async awaitStatus(wanted: string, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const { status, transition, status_reason: reason } = await this.record();
      if (status === wanted && transition === null) return;
      if (status === 'error' && wanted !== 'error')
        assert.fail(`${JSON.stringify(reason)}\n${this.world.service.output}`);
      if (performance.now() > deadline) assert.fail(`${status} instead of ${wanted}\n${this.world.service.output}`);
      await sleep(100);
    }
  }

  async guest(): Promise<GuestClient> {
    return guestClientOf(this.world.service.dataDir, this.id);
  }

  /** Reads a file of its workspace through the guest's daemon. */
  async file(path: string): Promise<string> {
    return Buffer.from(await (await this.guest()).readFile(path)).toString();
  }

  async shell(script: string): Promise<string> {
    const { stdout } = await (await this.guest()).exec({ argv: ['sh', '-c', script], timeoutMs: 300_000 });
    return stdout.trim();
  }

  pid(): Promise<number> {
    return qemuPid(this.world.service.dataDir, this.id);
  }
}
