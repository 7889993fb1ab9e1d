/**
 * Control planes on a real database and a fake host, for tests: several at a time, each of which may be killed at any moment.
 * This world stays beside `openLodge`: it stops one engine of several in the process at any statement, as kill -9 would.
 */
import { randomBytes } from 'node:crypto';
import { createSecretBox, cryptography } from '@lodge/access';
import { defaultLifecycle } from '@lodge/domain';
import {
  createConfirmations,
  createEngine,
  createFirstAccount,
  createForks,
  createHooks,
  createSchedules,
  createSnapshots,
} from '@lodge/engine';
import type {
  ChannelParts,
  ConfirmationParts,
  Confirmations,
  CreateAgentInput,
  Engine,
  EngineDeps,
  Forks,
  HookParts,
  Hooks,
  ScheduleParts,
  Schedules,
  Snapshots,
} from '@lodge/engine';
import type { AgentRow } from '@lodge/store/agents';
import type { CarriedData, GuestSkills, SecretBox } from '@lodge/ports';
import { createGateway } from '@lodge/runtimes';
import { testDatabase } from '@lodge/testkit/postgres';
import type { TestDatabase } from '@lodge/testkit/postgres';
import { createFakeDriver } from '@lodge/vm/fake';
import type { FakeDriver, FakeHost } from '@lodge/vm/fake';
import { channelParts } from './channels.ts';
import { guestRuntime, noTroubles } from './guest-runtime.ts';
import type { GuestTroubles } from './guest-runtime.ts';
import { openTestStore } from '../../../store/src/testing/agents-fixture.ts';
import type { TestStore } from '../../../store/src/testing/agents-fixture.ts';

export const silent = { debug() {}, info() {}, warn() {}, error() {} };
const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
const provider = {
  id: 'p',
  name: 'P',
  api: 'openai-completions',
  endpoints: { 'openai-completions': { baseUrl: 'http://p', keyHeader: 'authorization' } },
  needsKey: true,
  keyCheck: null,
  docsUrl: null,
  headers: {},
  models: [],
  operatorAdded: true,
  onlyModels: false,
  privateAddresses: true,
  contextWindow: null,
} as const;

export const input: CreateAgentInput = {
  name: 'A',
  llmKeys: [],
  runtimeKind: 'runtime_a',
  size: 'small',
  // Asleep only when a test says so.
  lifecycle: { ...defaultLifecycle, idleTimeoutSeconds: 3_600 },
  metadata: {},
};
export const never = new AbortController().signal;

/** A database with one account. */
export class World {
  readonly database: TestDatabase;
  readonly store: TestStore;
  readonly accountId: string;
  /** Ended with the world, should a test leave them. */
  readonly planes = new Set<Plane>();
  /** Control planes that have ended: their last statements may still be running. */
  readonly ending = new Set<Promise<unknown>>();

  private constructor(database: TestDatabase, store: TestStore, accountId: string) {
    this.database = database;
    this.store = store;
    this.accountId = accountId;
  }

  static async open(): Promise<World> {
    const database = await testDatabase();
    const store = await openTestStore({ ...database, log: silent });
    const key = { name: 't', hash: randomBytes(32), last4: 'test', scopes: ['agents:write'] } as const;
    const row = await createFirstAccount(store.database, 'test', key);
    return new World(database, store, row!.accountId);
  }

  async close(): Promise<void> {
    for (const plane of this.planes) plane.kill();
    await Promise.all(this.ending);
    await this.store.close();
    await this.database.drop();
  }
}

export interface Plane {
  readonly driver: FakeDriver;
  readonly engine: Engine;
  readonly agents: Engine['agents'];
  readonly hooks: Hooks;
  readonly schedules: Schedules;
  readonly snapshots: Snapshots;
  readonly forks: Forks;
  readonly confirmations: Confirmations;
  readonly troubles: GuestTroubles;
  /** The runtime's calls, in order. */
  readonly calls: string[];
  /** Acts like kill -9: nothing in progress goes on, but the database still ends the statements that it had sent. */
  kill(): void;
  /** Deletes the agents that are on this host, or on none yet, and ends the engine. */
  end(): Promise<void>;
}

export interface PlaneOptions extends Omit<Partial<EngineDeps>, 'channels' | 'schedules' | 'hooks' | 'confirmations'> {
  readonly release?: string;
  /** The skills of its guests, where they are not nothing. */
  readonly skills?: GuestSkills;
  /** The folders of its guests that belong to agents, where they are not all. */
  readonly data?: CarriedData;
  /** With channels, and what of them is not the usual fakes'. */
  readonly channels?: Partial<ChannelParts>;
  /** With schedules, and these bounds of theirs. */
  readonly schedules?: Pick<ScheduleParts, 'bounds'>;
  /** With hooks, and these bounds of theirs. */
  readonly hooks?: Pick<HookParts, 'bounds'>;
  /** With confirmations, and these bounds of theirs. */
  readonly confirmations?: ConfirmationParts;
  /** Several planes of one world open each other's secrets by the same box. */
  readonly secrets?: SecretBox;
}

/** A control plane on the host; those of another `release` have templates of their own. */
export async function startPlane(
  world: Pick<World, 'database' | 'store' | 'accountId' | 'planes' | 'ending'>,
  host: FakeHost,
  { release, channels, schedules, hooks, confirmations, skills, data, ...changes }: PlaneOptions = {},
): Promise<Plane> {
  const life = { ended: false, sent: new Set<Promise<unknown>>() };
  const driver = createFakeDriver(host);
  const troubles = noTroubles();
  const calls: string[] = [];
  // Each process has connections of its own, and by them the store tells its leases from those of one before it.
  const opened = await openTestStore({ ...world.database, log: silent });
  const closed = (): void => {
    const closing = Promise.allSettled(life.sent).then(() => opened.close());
    world.ending.add(closing);
    void closing.finally(() => world.ending.delete(closing));
  };
  // The test waits for nothing of host and guests, because a step of theirs may never end.
  const local: ProcessLife = {
    get ended() {
      return life.ended;
    },
    sent: new Set(),
  };
  const secrets = changes.secrets ?? createSecretBox(randomBytes(32));
  const runtime = { ...guestRuntime(host, troubles, calls, release), ...(skills && { skills }), ...(data && { data }) };
  const engine = createEngine({
    database: mortal(opened.database, life),
    changes: opened.changes,
    driver: mortal(driver, local),
    beforeEnd: () => Promise.resolve(),
    images: {
      idOf: () => Promise.resolve(image.id),
      find: () => Promise.resolve(image),
      ensure: () => Promise.resolve(image),
    },
    runtimes: new Map([['runtime_a', mortal(runtime, local)]]),
    gateway: createGateway(),
    providers: [provider],
    secrets,
    log: silent,
    defaultModel: 'p/m',
    maxAgentsPerAccount: 100,
    memory: { reservedMib: 1024, overcommit: 1 },
    holder: holderOf(host),
    provisionTimeoutMs: 20_000,
    idleEveryMs: 50,
    ...(channels && { channels: channelParts(channels) }),
    ...(schedules && {
      schedules: {
        ...schedules,
      },
    }),
    ...(hooks && { hooks }),
    ...(confirmations && { confirmations }),
    ...changes,
  });
  await driver.start();
  engine.start();
  const core = { database: mortal(opened.database, life), agents: engine.agents };
  const saving = { ...core, changes: opened.changes, bounds: changes.snapshots ?? { accountGib: 100 } };
  const plane: Plane = {
    hooks: createHooks({ ...core, tokens: cryptography.tokens, secrets }),
    schedules: createSchedules(core),
    snapshots: createSnapshots(saving),
    forks: createForks(saving),
    confirmations: createConfirmations({ ...core, secrets }),
    driver,
    engine,
    agents: engine.agents,
    troubles,
    calls,
    kill() {
      world.planes.delete(plane);
      life.ended = true;
      driver.crash();
      // This ends its timers and subscriptions; nothing in progress comes back.
      void engine.stop();
      closed();
    },
    async end() {
      for (const { id, host: at } of await world.store.agents.all()) {
        if (at === null || at === holderOf(host)) await engine.agents.delete(world.accountId, id, never);
      }
      world.planes.delete(plane);
      await engine.stop();
      await driver.stop();
      closed();
    },
  };
  world.planes.add(plane);
  return plane;
}

const holders = new WeakMap<FakeHost, string>();

/** Each host has a control plane of its own name, the same after a restart. */
function holderOf(host: FakeHost): string {
  const holder = holders.get(host) ?? `test-${randomBytes(4).toString('hex')}`;
  holders.set(host, holder);
  return holder;
}

interface ProcessLife {
  readonly ended: boolean;
  readonly sent: Set<Promise<unknown>>;
}

/** A part whose calls never come back once its process has ended. */
function mortal<T extends object>(part: T, life: ProcessLife): T {
  const forever = new Promise<never>(() => undefined);
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        if (life.ended && !String(name).startsWith('on')) return forever;
        const result: unknown = Reflect.apply(value, target, given);
        if (!(result instanceof Promise)) return result;
        life.sent.add(result);
        const settle = (): unknown => life.sent.delete(result);
        result.then(settle, settle);
        return result.then(
          (settled: unknown) => (life.ended ? forever : settled),
          (error: unknown) => (life.ended ? forever : Promise.reject(error as Error)),
        );
      };
    },
  });
}

export async function until(what: string, look: () => Promise<boolean> | boolean, timeoutMs = 120_000): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline;) {
    if (await look()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`never: ${what}`);
}

/** A new agent that runs. */
export async function running(
  world: Pick<World, 'accountId'>,
  plane: Plane,
  changes: Partial<CreateAgentInput> = {},
): Promise<AgentRow> {
  const { id } = await plane.agents.create(world.accountId, { ...input, ...changes });
  const row = await plane.agents.awaitStatus(world.accountId, id, 120_000, never);
  if (row?.status !== 'running') throw new Error(`${id} is ${row?.status}: ${row?.statusReason?.message}`);
  return row;
}
