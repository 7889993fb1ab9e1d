/**
 * The parts that need root, or files that only root may read: the network and the driver of VMs, images, the database's
 * process, keys.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMasterKey } from '@lodge/access/master-key';
import { createImageBuilder, createRuntimeVersions } from '@lodge/images';
import type { ImageBuilder, Log, RuntimeVersions, VmDriver } from '@lodge/ports';
import { startEmbeddedPostgres } from '@lodge/store/embedded';
import type { Closing } from '../closing.ts';
import type { Config } from '../config/config.ts';
import { masterKeySource } from '../config/master-key-source.ts';
import { openMachines } from '../host/machines.ts';
import { installedVersions } from '../host/installed-versions.ts';
import type { User } from './control-user.ts';
import type { RelayGroup } from '../relay/groups.ts';
import { readPlatformFiles } from '../relay/platforms.ts';
import type { PlatformFiles } from '../relay/platforms.ts';
import type { Launched } from '../relay/relay-process.ts';
import { openRelays } from './relays/open.ts';

/** The parts that only root can open or read. */
export interface OpenedHost {
  readonly driver: VmDriver;
  readonly images: ImageBuilder;
  readonly versions: RuntimeVersions;
  /** URL of the database. */
  readonly connectionString: string;
  readonly masterKey: Buffer;
  /** Certificate and key of the API, PEM; null without TLS. */
  readonly tls: Tls | null;
  /** All that only root could read for platforms of messages. */
  readonly platformFiles: PlatformFiles;
}

/** The parts that a control plane receives. It makes everything else itself. */
export interface Host extends OpenedHost {
  /** Starts the relay process of a group of platforms, after killing the earlier one. */
  readonly launchRelay: (group: RelayGroup) => Promise<Launched>;
}

export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * Starts the database, reads keys, and opens the door to relays; the driver is not started. `control` is the control plane's user.
 * Rejects with advice to the operator.
 */
export async function openHost(config: Config, log: Log, closing: Closing, control: User): Promise<OpenedHost> {
  await openRelays(config, { control, log }, closing);
  const connectionString = await openDatabase(config, log, closing);
  const masterKey = await readMasterKey(masterKeySource(config));
  const tls = await readTls(config);
  const platformFiles = await readPlatformFiles(config);
  const { driver } = await openMachines(config, log);
  const installed = installedVersions(config);
  const images = createImageBuilder({ cacheDir: config.cacheDir, versionsDir: installed.folder, log });
  const versions = createRuntimeVersions({ installed, images, log });
  return { driver, images, versions, connectionString, masterKey, tls, platformFiles };
}

async function openDatabase(config: Config, log: Log, closing: Closing): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl;
  const { systemUser: user, controlUser: client } = config;
  const dataDir = join(config.dataDir, 'postgres');
  const postgres = await startEmbeddedPostgres({ dataDir, user, client, log });
  closing.push(() => postgres.stop());
  return postgres.connectionString;
}

async function readTls({ tlsCert, tlsKey }: Config): Promise<Tls | null> {
  if (tlsCert === null || tlsKey === null) return null;
  return { cert: await pem('LODGE_TLS_CERT', tlsCert), key: await pem('LODGE_TLS_KEY', tlsKey) };
}

async function pem(variable: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${variable}: ${path} cannot be read.`, { cause: error });
  }
}
