/** A place of backups as restic names it: a folder of this machine, or a storage elsewhere. */
import { resolve } from 'node:path';
import { BackupError } from '../errors.ts';

export interface Place {
  /** As the operator named it; no credential is in it. */
  readonly name: string;
  /** The absolute path of a folder; null for a storage elsewhere. */
  readonly folder: string | null;
  /** The arguments of the ssh that reaches an sftp server; null for another place. */
  readonly ssh: string | null;
}

const schemes = ['s3', 'sftp', 'b2', 'azure', 'rclone'];
const words =
  'a folder, s3:https://HOST/BUCKET/PREFIX, sftp:USER@HOST:/PATH, b2:BUCKET:PREFIX, azure:CONTAINER:/PREFIX or rclone:REMOTE:PATH';
/** Neither a blank nor a character that a shell, a URL's query or restic's own options would read as something else. */
const plain = /^[\w.,:/@+~=-]{1,500}$/;

/** Throws `BackupError` for a name that could mean something else; nothing of such a name is repeated. */
export function placeOf(name: string, { sshConfig = null }: { readonly sshConfig?: string | null } = {}): Place {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(name)?.[1]?.toLowerCase();
  if (scheme === undefined) return { name: resolve(name), folder: resolve(name), ssh: null };
  if (!schemes.includes(scheme)) throw new BackupError(`Backups go to ${words}.`);
  if (name.startsWith('s3://')) {
    throw new BackupError('A bucket is named with its storage: s3:https://HOST/BUCKET/PREFIX.');
  }
  // A command line is readable by everyone.
  if (/@/.test(name) && (scheme !== 'sftp' || hasPassword(name.slice('sftp:'.length)))) {
    throw new BackupError('The name of a place has no credentials in it: they go into a file (docs/guides/backup.md).');
  }
  if (!plain.test(name)) throw new BackupError(`The name of a place is ${words}, in plain letters.`);
  return { name, folder: null, ssh: scheme === 'sftp' ? sshArguments(name, sshConfig) : null };
}

/** restic's name for the repository of one master key in a place. */
export function repositoryIn({ name }: Place, keyId: string): string {
  const folder = `lodge-${keyId}`;
  if (/^b2:[^:]+$/.test(name)) return `${name}:${folder}`;
  return name.endsWith('/') || name.endsWith(':') ? `${name}${folder}` : `${name}/${folder}`;
}

/**
 * ssh asks nobody for a password, and tells of a host that has gone away. At the level ERROR it writes nothing that the host
 * can lengthen at will, such as banners.
 */
function sshArguments(name: string, config: string | null): string {
  const { user, host, port } = sshHost(name);
  const options = [
    'BatchMode=yes',
    'LogLevel=ERROR',
    'ConnectTimeout=30',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=4',
  ];
  const parts = options.flatMap((option) => ['-o', option]);
  if (config !== null) parts.push('-F', config);
  if (port !== undefined) parts.push('-p', port);
  if (user !== undefined) parts.push('-l', user);
  return [...parts, host, '-s', 'sftp'].join(' ');
}

function sshHost(name: string): {
  readonly user: string | undefined;
  readonly host: string;
  readonly port: string | undefined;
} {
  const found =
    /^sftp:\/\/(?:([\w.+-]+)@)?([\w.-]+)(?::(\d{1,5}))?\/.+$/.exec(name) ??
    /^sftp:(?:([\w.+-]+)@)?([\w.-]+)():.+$/.exec(name);
  const host = found?.[2];
  if (!found || host === undefined || host.startsWith('-')) {
    throw new BackupError('A place by sftp is named as sftp:USER@HOST:/PATH or sftp://USER@HOST:PORT//PATH.');
  }
  return { user: found[1], host, port: found[3] || undefined };
}

/** Tells whether the user before the host has a password behind a colon. */
function hasPassword(rest: string): boolean {
  return rest.split('/').some((part) => part.includes(':') && part.indexOf(':') < part.lastIndexOf('@') - 1);
}
