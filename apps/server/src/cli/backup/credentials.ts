/** Credentials of a place: read once, passed to restic alone, and kept from the environment of all other programs. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Config } from '../../config/config.ts';
import { CommandError } from '../command.ts';

/** restic's names of the credentials for each kind of storage. */
const credential = /^(?:AWS|B2|AZURE|RCLONE)_[A-Z0-9_]{1,60}$/;
const maxFileBytes = 16 * 1024;
const plain = /^[\x20-\x7e]{1,4096}$/;

/** Credentials of the environment, and those of the file, which win. Removes the former from the environment. */
export async function takeCredentials(config: Config, env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!credential.test(name)) continue;
    if (value) found[name] = plainOf(name, value, 'the environment');
    delete env[name];
  }
  const path = config.backupCredentialsFile;
  return path === null ? found : { ...found, ...(await readFile(path)) };
}

/** Reads `NAME=value` lines, or the first section of `~/.aws/credentials`. Only its owner may be able to read the file. */
async function readFile(path: string): Promise<Record<string, string>> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`The credentials in ${path} cannot be read: ${cause.code ?? 'unknown'}.`, { cause });
  });
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > maxFileBytes) throw new CommandError(`${path} is no file of credentials.`);
    if ((facts.mode & 0o077) !== 0) {
      throw new CommandError(`Others than its owner may read ${path}, which has credentials: chmod 600 ${path}`);
    }
    return linesOf(await file.readFile('utf8'), path);
  } finally {
    await file.close();
  }
}

function linesOf(text: string, path: string): Record<string, string> {
  const found: Record<string, string> = {};
  let sections = 0;
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('[')) sections += 1;
    const at = line.indexOf('=');
    const name = line.slice(0, Math.max(at, 0)).trim().toUpperCase();
    if (sections < 2 && credential.test(name)) found[name] = plainOf(name, line.slice(at + 1).trim(), path);
  }
  if (Object.keys(found).length === 0) throw new CommandError(`${path} has no credentials that restic knows.`);
  return found;
}

function plainOf(name: string, value: string, where: string): string {
  if (plain.test(value)) return value;
  throw new CommandError(`${name} of ${where} has characters that no credential has.`);
}
