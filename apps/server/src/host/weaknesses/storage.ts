/** Where this Lodge keeps what must not be lost or read. */
import type { Stats, StatsFs } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sizes } from '@lodge/domain';
import { masterKeySource } from '../../config/master-key-source.ts';
import { fail, isRoot, note, ok, warn } from '../finding.ts';
import type { Finding } from '../finding.ts';
import type { Check } from './check.ts';

const gib = 2 ** 30;

const masterKey: Check = {
  name: 'master key',
  look({ config }, name) {
    const source = masterKeySource(config);
    if (source.kind === 'file') return keyFile(name, source.file);
    if (source.kind === 'command') return ok(name, 'from LODGE_MASTER_KEY_COMMAND');
    const detail = 'in the environment, where other processes of the same user read it';
    return warn(name, detail, 'keep it in a file of mode 0600, or set LODGE_MASTER_KEY_COMMAND');
  },
};

async function keyFile(name: string, file: string): Promise<Finding> {
  const folder = await statOf(dirname(file));
  const key = folder && (await statOf(file));
  if (key === null) return ok(name, `none yet: the first start makes ${file}`);
  if ((key.mode & 0o077) !== 0) return fail(name, `${file} is open to other users`, `chmod 600 ${file}`);
  const owners = [0, process.getuid?.()];
  if (!owners.includes(key.uid)) return fail(name, `${file} belongs to user ${key.uid}`, `chown root ${file}`);
  if (!owners.includes(folder!.uid) || (folder!.mode & 0o022) !== 0) {
    const advice = `chown root ${dirname(file)} && chmod go-w ${dirname(file)}`;
    return fail(name, `other users can replace ${file}: its folder is theirs to write`, advice);
  }
  return ok(name, `${file}, for its owner alone`);
}

const statOf = (path: string): Promise<Stats | null> =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });

const database: Check = {
  name: 'database',
  look({ config: { databaseUrl } }, name) {
    if (databaseUrl === null) return ok(name, "Lodge's own, on a socket of this machine");
    const { hostname, searchParams } = new URL(databaseUrl);
    const host = searchParams.get('host') ?? decodeURIComponent(hostname);
    if (host === '' || host.startsWith('/') || /^(localhost|127\..*|\[?::1\]?)$/.test(host))
      return ok(name, 'on this machine');
    if (/^(require|verify-ca|verify-full)$/.test(searchParams.get('sslmode') ?? ''))
      return ok(name, `at ${host}, with TLS`);
    const detail = `at ${host} without TLS: its password and everything in it cross the network in the clear`;
    return warn(name, detail, 'add ?sslmode=verify-full to DATABASE_URL');
  },
};

/** Each agent's disk may grow to its size, and the embedded database shares the file system. */
const disk: Check = {
  name: 'disk',
  async look({ config }, name) {
    const { bavail, bsize } = await statfsAbove(config.dataDir);
    const [free, mayWrite] = [(bavail * bsize) / gib, config.maxRunning * diskGib];
    const detail = `${free.toFixed(0)} GiB free in ${config.dataDir}; the running agents of one account may write ${mayWrite} GiB`;
    if (free >= mayWrite) return ok(name, detail);
    const shared = config.databaseUrl === null ? ', and the database is on the same disk' : '';
    return warn(name, `${detail}${shared}`, 'add disk, or lower LODGE_MAX_RUNNING and LODGE_MAX_AGENTS');
  },
};

const diskGib = Math.max(...Object.values(sizes).map((size) => size.diskGib));

async function statfsAbove(path: string): Promise<StatsFs> {
  return statfs(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || path === dirname(path)) throw error;
    return statfsAbove(dirname(path));
  });
}

const user: Check = {
  name: 'user',
  look(_facts, name) {
    if (isRoot()) return ok(name, 'root, which sees everything');
    return note(name, 'not root: what only root may look at is not seen', 'run it as root to see everything');
  },
};

export const storageChecks: readonly Check[] = [masterKey, database, disk, user];
