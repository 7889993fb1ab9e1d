/**
 * A whole Lodge in this process, as the product puts it together (`startLodge`): its settings, HTTP API, engine with all loops,
 * broker, webhooks, schedules, hooks and channels over a real database. The machines are those of a `FakeHost`, and its relay
 * processes answer here, unless a test has them started.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeKind } from '@lodge/domain';
import { builtIn } from '@lodge/ports';
import type { AgentRuntime, ChannelCheck, ImageBuilder, Log, RuntimeVersions } from '@lodge/ports';
import { testDatabase } from '@lodge/testkit/postgres';
import { createFakeDriver, FakeHost } from '@lodge/vm/fake';
import type { FakeDriver } from '@lodge/vm/fake';
import { readConfig } from '../../../../apps/server/src/config/config.ts';
import type { LodgeOptions } from '../../../../apps/server/src/lodge-options.ts';
import { ownFolderOf } from '../../../../apps/server/src/machine-host/control-user.ts';
import { plainCommand } from '../../../../apps/server/src/machine-host/relays/command.ts';
import { launchRelay, openRelayDoor, relayDoorOf } from '../../../../apps/server/src/machine-host/relays/door.ts';
import { startLodge } from '../../../../apps/server/src/wire.ts';
import type { Lodge } from '../../../../apps/server/src/wire.ts';
import { FakeCheck } from './channels.ts';
import { fakeRelays } from './fake-relay.ts';
import { guestRuntime, noTroubles } from './guest-runtime.ts';

export interface OpenLodgeOptions extends Pick<LodgeOptions, 'guestAt' | 'gmail' | 'bounds' | 'api'> {
  /** URL of the database; without it the Lodge has one of its own, which ends with it. */
  readonly connectionString?: string;
  /** LODGE_ variables that are not the usual ones of tests. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly host?: FakeHost;
  /** By default runtime_a alone, over the guests of `host`. */
  readonly runtimes?: ReadonlyMap<RuntimeKind, AgentRuntime>;
  /** False: the machines are never ready, so no loop and no broker runs, and the API alone answers. */
  readonly machines?: boolean;
  /** `processes`: relays as the product starts them, without a box. A check answers here in place of them. */
  readonly relays?: 'processes' | ChannelCheck;
  /** The program of such a process; by default the product's. */
  readonly relayEntry?: string;
  readonly masterKey?: Buffer;
  readonly log?: Log;
}

export interface OpenedLodge extends Lodge {
  readonly connectionString: string;
  /** The address at which guests reach the broker. It knows an agent by the address that a call comes from. */
  readonly brokerUrl: string;
  readonly host: FakeHost;
  readonly driver: FakeDriver;
}

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Many of everything that a test may ask for, no server outside this machine, and ports that are free. */
const usual = {
  LODGE_PORT: '0',
  LODGE_CREATE_WAIT_MS: '10000',
  LODGE_LIFECYCLE_WAIT_MS: '10000',
  LODGE_PROVISION_TIMEOUT_MS: '240000',
  LODGE_CHAT_TIMEOUT_MS: '120000',
  LODGE_MEMORY_OVERCOMMIT: '16',
  LODGE_MAX_AGENTS: '1000',
  LODGE_MAX_RUNNING: '1000',
  LODGE_RATE_READS: '1000000',
  LODGE_RATE_WRITES: '1000000',
  LODGE_RATE_CREATES: '1000000',
  LODGE_RATE_CALLS: '1000000',
  LODGE_RATE_ADDRESS: '1000000',
  LODGE_CREATES_AT_ONCE: '1000',
  LODGE_WEBHOOK_ADDRESSES: 'any',
  // Nothing listens there.
  LODGE_EGRESS_PROXY: 'http://127.0.0.1:1',
};

const image = { id: 'image', rootDisk: '/nowhere', kernel: '/nowhere', initrd: '/nowhere' };
const images: ImageBuilder = {
  idOf: async () => image.id,
  find: async () => image,
  ensure: async () => image,
};
const versions: RuntimeVersions = {
  offered: async (runtime) => ({ fresh: builtIn(runtime), upgrade: builtIn(runtime) }),
};

export async function openLodge(options: OpenLodgeOptions = {}): Promise<OpenedLodge> {
  const undo: (() => Promise<unknown>)[] = [];
  const end = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const connectionString = options.connectionString ?? (await ownDatabase(undo));
    const dataDir = await mkdtemp(join(tmpdir(), 'lodge-test-'));
    undo.push(() => rm(dataDir, { recursive: true }));
    const config = readConfig({ ...usual, LODGE_DATA_DIR: dataDir, LODGE_CACHE_DIR: dataDir, ...options.settings });
    await mkdir(ownFolderOf(config), { mode: 0o700 });
    const { log = silent, host = new FakeHost(), relays = new FakeCheck() } = options;
    // All of 127/8 is this machine: the broker of each Lodge has an address of its own.
    host.brokerHost = `127.${randomInt(128, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
    const driver = createFakeDriver(host);
    const given = {
      images,
      versions,
      connectionString,
      masterKey: options.masterKey ?? randomBytes(32),
      tls: null,
      platformFiles: {},
      launchRelay:
        relays === 'processes'
          ? await openDoor(relayDoorOf(config), options.relayEntry, log, undo)
          : fakeRelays(relays),
    };
    const never = Promise.withResolvers<never>();
    never.promise.catch(() => undefined);
    if (options.machines === false) driver.start = () => never.promise;
    const runtimes = options.runtimes ?? new Map([['runtime_a', guestRuntime(host, noTroubles())]]);
    const { guestAt, gmail, bounds, api } = options;
    const lodge = await startLodge(config, {
      ...(guestAt && { guestAt }),
      ...(gmail && { gmail }),
      ...(bounds && { bounds }),
      ...(api && { api }),
      looksAtHost: false,
      runtimes,
      log,
      host: { ...given, driver },
    });
    undo.push(() => {
      never.reject(new Error('the Lodge ends'));
      return lodge.close();
    });
    lodge.ready.catch(() => undefined);
    if (options.machines !== false) await lodge.ready;
    const brokerUrl = `http://${host.brokerHost}:${config.brokerPort}`;
    return { ...lodge, connectionString, brokerUrl, host, driver, close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function ownDatabase(undo: (() => Promise<unknown>)[]): Promise<string> {
  const database = await testDatabase();
  undo.push(() => database.drop());
  return database.connectionString;
}

/** The door of a machine host, in this process. */
async function openDoor(folder: string, entry: string | undefined, log: Log, undo: (() => Promise<unknown>)[]) {
  const door = await openRelayDoor({ folder, control: null, command: () => plainCommand(process.env, entry), log });
  undo.push(() => door.close());
  return (group: Parameters<typeof launchRelay>[1]) => launchRelay(folder, group);
}
