/** The places of data that must not be lost or read. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defaultDisk, diskLevel, fitsDisk, ifThere } from '@lodge/domain';
import { masterKeySource } from '../../config/master-key-source.ts';
import { nearest } from '../files.ts';
import { fail, isRoot, note, ok, warn } from '../finding.ts';
import type { Finding } from '../finding.ts';
import type { Check } from './check.ts';

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
  const folder = await ifThere(stat(dirname(file)));
  const key = folder && (await ifThere(stat(file)));
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

/** The part of the real disk that the settings leave (docs/adr/0033-disk-is-capacity.md). */
const disk: Check = {
  name: 'disk',
  async look({ config }, name) {
    const { dataDir, diskFloorMib: floorMib, diskReservedMib: reservedMib, diskOvercommit: overcommit } = config;
    const { bavail, bsize } = await nearest(dataDir, (there) => statfs(there));
    const host = { freeMib: (bavail * bsize) / 2 ** 20, floorMib, reservedMib, overcommit };
    const free = `${gib(host.freeMib)} GiB free in ${dataDir}`;
    if (['short', 'critical'].includes(diskLevel(host))) {
      const detail = `${free}, below LODGE_DISK_FLOOR_MIB (${gib(floorMib)} GiB): agents that write are paused, none is made or started`;
      return warn(name, detail, 'add disk, or remove what fills it');
    }
    if (!fitsDisk(host, [smallest])) {
      const detail = `${free} beside a floor of ${gib(floorMib)} GiB and a reserve of ${gib(reservedMib)} GiB: there is no room for an agent`;
      return warn(name, detail, 'add disk, or lower LODGE_DISK_RESERVED_MIB');
    }
    if (floorMib < defaultDisk.floorMib) {
      const detail = `LODGE_DISK_FLOOR_MIB is ${floorMib}: writers can fill a fast disk, and stop the database, before they are paused`;
      return warn(name, detail, `set it to ${defaultDisk.floorMib} or more`);
    }
    return ok(name, `${free}; agents are paused below ${gib(floorMib)} GiB`);
  },
};

const gib = (mib: number): string => (mib / 1024).toFixed(1);
const smallest = { size: 'small', diskMib: 0, snapshotMib: 0 } as const;

const diskRate: Check = {
  name: 'disk rate',
  look({ config }, name) {
    if (config.diskRate > 0) return ok(name, 'agents are bounded by their size');
    const detail = 'LODGE_DISK_RATE is 0: one agent can keep the disk busy for all others and the database';
    return warn(name, detail, 'set LODGE_DISK_RATE to 1');
  },
};

const user: Check = {
  name: 'user',
  look(_facts, name) {
    if (isRoot()) return ok(name, 'root, which sees everything');
    return note(name, 'not root: what only root may look at is not seen', 'run it as root to see everything');
  },
};

export const storageChecks: readonly Check[] = [masterKey, database, disk, diskRate, user];
