/** A real S3-compatible storage for one test file, on ports of its own. It checks every signature, and ends with its test. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { storageProgram } from './program.ts';

export interface StorageKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const startMs = 3 * 60_000;
const attempts = 3;
const region = 'us-east-1';
const listeners = ['master', 'volume', 'filer', 's3'] as const;

export class ObjectStorage {
  /** May do everything. */
  readonly key: StorageKey;
  /** May list and read. */
  readonly readingKey: StorageKey;
  readonly endpoint: string;
  private readonly child: ChildProcess;
  private readonly folder: string;

  private constructor(child: ChildProcess, folder: string, endpoint: string, keys: readonly [StorageKey, StorageKey]) {
    this.child = child;
    this.folder = folder;
    this.endpoint = endpoint;
    [this.key, this.readingKey] = keys;
  }

  /** Rejects with what the server said last. */
  static async start(): Promise<ObjectStorage> {
    const program = await storageProgram();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ObjectStorage.once(program);
      } catch (error) {
        // Somebody may have taken a port that was free.
        if (attempt === attempts) throw error;
      }
    }
  }

  private static async once(program: string): Promise<ObjectStorage> {
    const folder = await mkdtemp(join(tmpdir(), 'lodge-storage-'));
    const keys = [newKey(), newKey()] as const;
    const identity = (key: StorageKey, name: string, actions: readonly string[]): object => ({
      name,
      credentials: [{ accessKey: key.accessKeyId, secretKey: key.secretAccessKey }],
      actions,
    });
    const identities = [identity(keys[0], 'writer', ['Admin']), identity(keys[1], 'reader', ['Read', 'List'])];
    await writeFile(join(folder, 's3.json'), JSON.stringify({ identities }), { mode: 0o600 });
    const ports = await freePorts(2 * listeners.length);
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...parameters(folder, ports)], {
      cwd: folder,
      stdio: 'ignore',
    });
    const storage = new ObjectStorage(child, folder, `http://127.0.0.1:${ports[6]}`, keys);
    try {
      await storage.awaitReady();
      return storage;
    } catch (error) {
      await storage.stop();
      throw error;
    }
  }

  async makeBucket(name: string): Promise<void> {
    const { status } = await this.send('PUT', name);
    if (status !== 200) throw new Error(`no bucket was made: ${status}`);
  }

  /** A request of its owner's: to look, and to do damage. `path` begins with the bucket. */
  async send(method: string, path: string, body = ''): Promise<Response> {
    const about = { ...this.key, service: 's3', region };
    const request = await new AwsV4Signer({ url: `${this.endpoint}/${path}`, method, ...about }).sign();
    return fetch(request.url, { method, headers: request.headers, ...(body !== '' && { body }) });
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGKILL');
      await once(this.child, 'exit');
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  private async awaitReady(): Promise<void> {
    const deadline = Date.now() + startMs;
    while (this.child.exitCode === null && Date.now() < deadline) {
      const isUp = await this.send('PUT', 'first').then(
        ({ ok }) => ok,
        () => false,
      );
      if (isUp) return;
      await sleep(200);
    }
    const said = await readFile(join(this.folder, 'log', 'weed.ERROR'), 'utf8').catch(() => '');
    throw new Error(`the storage did not start: ${said.slice(-2000)}`);
  }
}

function parameters(folder: string, ports: readonly number[]): string[] {
  const listening = listeners.flatMap((name, index) => [
    `-${name}.port=${ports[2 * index]}`,
    `-${name}.port.grpc=${ports[2 * index + 1]}`,
  ]);
  return [
    `-logdir=${folder}`,
    'server',
    `-dir=${folder}`,
    '-ip=127.0.0.1',
    '-ip.bind=127.0.0.1',
    ...listening,
    '-master.volumeSizeLimitMB=64',
    '-volume.max=8',
    `-filer.localSocket=${join(folder, 'filer.sock')}`,
    '-s3',
    `-s3.config=${join(folder, 's3.json')}`,
    `-s3.localSocket=${join(folder, 's3.sock')}`,
    '-s3.iam=false',
    '-s3.port.iceberg=0',
    '-s3.port.lance=0',
  ];
}

function newKey(): StorageKey {
  return { accessKeyId: `AK${randomBytes(9).toString('hex')}`, secretAccessKey: randomBytes(20).toString('hex') };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
