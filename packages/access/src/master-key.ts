import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ifThere, NamedError } from '@lodge/domain';
import { masterKeyBytes } from './data-key.ts';

/** The source of a master key: a file, made when absent; base64 text; or the output of a shell command, in base64. */
export type MasterKeySource =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'text'; readonly base64: string }
  | { readonly kind: 'command'; readonly command: string };

const commandTimeoutMs = 30_000;
/** Most bytes of output, far more than a key. */
const maxOutput = 1024;

/** Thrown when a master key cannot be used. The message says what to do, and contains nothing of the key. */
export class MasterKeyError extends NamedError {}

/** Reads the master key. Throws `MasterKeyError`. */
export async function readMasterKey(source: MasterKeySource): Promise<Buffer> {
  switch (source.kind) {
    case 'file':
      return loadMasterKey(source.file);
    case 'text':
      return decode(source.base64, 'LODGE_MASTER_KEY');
    case 'command':
      return decode(await outputOf(source.command), 'What LODGE_MASTER_KEY_COMMAND writes');
  }
}

function decode(text: string, what: string): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  const plain = trimmed.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/');
  if (key.length !== masterKeyBytes || key.toString('base64').replace(/=+$/, '') !== plain) {
    throw new MasterKeyError(
      `${what} must be ${masterKeyBytes} bytes in base64, as \`openssl rand -base64 ${masterKeyBytes}\` makes them.`,
    );
  }
  return key;
}

/** Returns a command's output. Its standard error goes to ours, because it says why a command failed. */
async function outputOf(command: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
  // The pipe ends too, because a process that the command started may hold it open for ever.
  const end = (): void => {
    child.kill('SIGKILL');
    child.stdout.destroy();
  };
  const timer = setTimeout(end, commandTimeoutMs);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.length > maxOutput) end();
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  }).finally(() => clearTimeout(timer));
  if (status === 0) return output;
  throw new MasterKeyError(
    `LODGE_MASTER_KEY_COMMAND must write the key and end with 0 within ${commandTimeoutMs / 1000} s; it ${status === null ? 'was ended' : `ended with ${status}`}.`,
  );
}

/**
 * Returns the master key in `file`: 32 raw bytes, mode 0600. It is made at random when the file is absent (its folder must
 * exist).
 *
 * A new key is written and synced under a name of its own and then hard-linked to `file`. The link fails when another
 * process was first; then that process's key is used. So no process ever reads half a key or replaces one in use. A kill
 * leaves at worst a 0600 file `.<name>.<random>.new` with a key under which nothing was sealed.
 */
export async function loadMasterKey(file: string): Promise<Buffer> {
  return (await readKey(file)) ?? (await makeKey(file));
}

async function makeKey(file: string): Promise<Buffer> {
  const folder = dirname(file);
  const fresh = join(folder, `.${basename(file)}.${randomBytes(8).toString('hex')}.new`);
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(randomBytes(masterKeyBytes));
    await handle.sync();
    await link(fresh, file).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await handle.close();
    await unlink(fresh);
  }
  await syncFolder(folder);
  const key = await readKey(file);
  if (!key) throw new MasterKeyError(`The master key file ${file} was removed while it was being made.`);
  return key;
}

/** Reads the key; null when there is no such file. */
async function readKey(file: string): Promise<Buffer | null> {
  // With O_NONBLOCK, opening a FIFO does not wait for a writer.
  const handle = await ifThere(open(file, constants.O_RDONLY | constants.O_NONBLOCK));
  if (handle === null) return null;
  try {
    const { mode, uid, size } = await handle.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) {
      throw new MasterKeyError(`The master key ${file} is not a regular file.`);
    }
    if ((mode & 0o077) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, '0');
      throw new MasterKeyError(
        `The master key file ${file} is open to other users (mode ${octal}). Run: chmod 600 ${file}`,
      );
    }
    const self = process.getuid?.();
    if (self !== undefined && uid !== self && uid !== 0) {
      throw new MasterKeyError(
        `The master key file ${file} belongs to another user (uid ${uid}; this one is ${self}).`,
      );
    }
    if (size !== masterKeyBytes) {
      throw new MasterKeyError(
        `The master key file ${file} has ${size} bytes instead of ${masterKeyBytes}. Restore it from a backup: without it, stored keys cannot be read.`,
      );
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
