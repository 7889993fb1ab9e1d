import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Binaries } from './binaries.ts';
import { readForeign } from './foreign-file.ts';
import { assertPassable, runAs } from './system-user.ts';
import type { RunAs } from './system-user.ts';

const run = promisify(execFile);

/** Longest path a unix socket may have on Linux, in bytes (unix(7): `sun_path` with its closing NUL is 108). */
const maxSocketPathBytes = 107;
/** A part of the socket's file name only, because the server has no TCP port. */
const port = 5432;
export const socketName = `.s.PGSQL.${port}`;
/** The only role, a superuser of this private server, and the database that initdb makes. */
const role = 'lodge';
const database = 'postgres';

/**
 * The files of one server. `dataDir` and its direct entries belong to the control plane. The two folders that Postgres
 * writes to belong to its user. A Postgres that was taken over therefore cannot make the control plane write elsewhere.
 *
 *   <dataDir>/postgres-<version>/   programs
 *   <dataDir>/partial-*             either of the others while it is made
 *   <dataDir>/cluster/              PGDATA, 0700, of the user
 *   <dataDir>/socket/               0700, of the user; with a client, its group may pass (0710)
 *   <dataDir>/pg_hba.conf, pg_ident.conf, postgres.log
 */
export interface Cluster {
  readonly dataDir: string;
  readonly cluster: string;
  readonly socketDir: string;
  readonly hbaFile: string;
  readonly identFile: string;
  readonly logFile: string;
  readonly user: RunAs;
  /**
   * The user that may log in beside the account of this process; null when this process is not root, or nobody was named.
   */
  readonly client: Client | null;
}

interface Client {
  readonly name: string;
  readonly gid: number;
}

/** Checks the folder and makes the missing parts around the cluster. `clientName` is as in `EmbeddedPostgresOptions`. */
export async function prepareCluster(dataDir: string, userName: string, clientName: string | null): Promise<Cluster> {
  const cluster: Cluster = {
    dataDir,
    cluster: join(dataDir, 'cluster'),
    socketDir: join(dataDir, 'socket'),
    hbaFile: join(dataDir, 'pg_hba.conf'),
    identFile: join(dataDir, 'pg_ident.conf'),
    logFile: join(dataDir, 'postgres.log'),
    user: await runAs(userName),
    client: clientName === null ? null : await clientOf(clientName),
  };
  const socketPath = join(cluster.socketDir, socketName);
  const excess = Buffer.byteLength(socketPath) - maxSocketPathBytes;
  if (excess > 0)
    throw new Error(`The data folder's path ${dataDir} is ${excess} bytes too long for a unix socket in it.`);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o711);
  await assertPassable(dataDir, cluster.user);
  await makeOwned(cluster.socketDir, cluster.user, cluster.client);
  return cluster;
}

/** Returns the client; null for a user that does not exist and so logs in nowhere. */
async function clientOf(name: string): Promise<Client | null> {
  if (process.geteuid!() !== 0) return null;
  return runAs(name).then(
    ({ gid }) => ({ name, gid }),
    () => null,
  );
}

/**
 * Runs initdb unless that is done. It works in a separate folder that is renamed at the end, so a kill leaves no half-made
 * cluster.
 */
export async function initialise(cluster: Cluster, binaries: Binaries): Promise<void> {
  const made = await versionOf(cluster.cluster);
  if (made === binaries.major) return;
  if (made !== null) {
    throw new Error(
      `${cluster.cluster} was made by Postgres ${made.slice(0, 20)}, and this release brings Postgres ${binaries.major}, which cannot open it. Move it with pg_dump and pg_restore or with pg_upgrade, or go back to the release that made it.`,
    );
  }
  const partial = await mkdtemp(join(cluster.dataDir, 'partial-cluster-'));
  await makeOwned(partial, cluster.user);
  // The builtin collation depends on no library of the host, so an upgrade of the host cannot corrupt an index.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const args = [`--pgdata=${partial}`, `--username=${role}`, '--auth=reject', '--no-instructions', ...locale];
  await run(binaries.initdb, args, { ...cluster.user, cwd: partial, env: serverEnv, timeout: 120_000 }).catch(
    (error: Error & { stderr?: string }) => {
      throw new Error(`initdb failed: ${error.stderr?.trim() || error.message}`, { cause: error });
    },
  );
  await rename(partial, cluster.cluster);
  await syncFolder(cluster.dataDir);
}

/**
 * Removes the leftovers of kills, and the programs of other releases. Call it when the server runs from `binaries`. An
 * initdb whose parent was killed may still write into its folder. Leftovers that cannot be removed now are removed by the
 * next start.
 */
export async function removeLeftovers(dataDir: string, binaries: Binaries): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const path = join(dataDir, name);
    if (!/^partial-|^postgres-\d/.test(name) || path === binaries.home) continue;
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/**
 * The environment of Postgres. It has no variable of ours, because other processes of its user could read it. Messages are
 * in English.
 */
export const serverEnv = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };

async function versionOf(cluster: string): Promise<string | null> {
  return (await readForeign(join(cluster, 'PG_VERSION')))?.trim() ?? null;
}

/**
 * Access rules: the account of this process and the client may log in as the one role. The kernel knows them from the socket
 * (peer). So there is no password to store, and neither another local user nor Postgres's own can log in, even if they reach
 * the socket.
 */
const accessRules = ({ hbaFile, identFile, client }: Cluster): readonly (readonly [file: string, text: string])[] => {
  const names = [userInfo().username, ...(client ? [client.name] : [])];
  return [
    [hbaFile, `local all ${role} peer map=lodge\n`],
    [identFile, names.map((name) => `lodge "${name}" ${role}\n`).join('')],
  ];
};

/** Whether a server that runs on the cluster has these rules, if it was started with the present files. */
export async function hasAccessRules(cluster: Cluster): Promise<boolean> {
  for (const [file, text] of accessRules(cluster)) {
    if ((await readFile(file, 'utf8').catch(() => null)) !== text) return false;
  }
  return true;
}

export async function writeAccessRules(cluster: Cluster): Promise<void> {
  for (const [file, text] of accessRules(cluster)) await writeAtomically(file, text);
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const partial = `${path}.new`;
  await writeFile(partial, text, { mode: 0o644 });
  await chmod(partial, 0o644);
  await rename(partial, path);
}

/** Makes a folder that the client may pass and not list. */
async function makeOwned(dir: string, user: RunAs, client: Client | null = null): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (user.uid !== undefined) await chown(dir, user.uid, client?.gid ?? user.gid);
  await chmod(dir, client ? 0o710 : 0o700);
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the URL of the server that runs on `dataDir`, for another process of the account that started it. */
export const embeddedConnectionString = (dataDir: string): string =>
  connectionStringOf({ socketDir: join(dataDir, 'socket') });

export const connectionStringOf = (cluster: Pick<Cluster, 'socketDir'>): string =>
  `postgres://${role}@${encodeURIComponent(cluster.socketDir)}:${port}/${database}`;
