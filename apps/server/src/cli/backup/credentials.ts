/** Credentials for a bucket: read once, and kept from the environment of whatever this process starts. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { S3Credentials } from '@lodge/backup';
import type { Config } from '../../config/config.ts';
import { CommandError } from '../command.ts';

const variables = {
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  sessionToken: 'AWS_SESSION_TOKEN',
} as const;
const maxFileBytes = 16 * 1024;
/** What a header takes. */
const plain = /^[\x21-\x7e]{1,4096}$/;

/** The file's, where one is set, else those of the environment. Takes the latter out of it in either case. */
export async function takeCredentials(config: Config, env: NodeJS.ProcessEnv): Promise<S3Credentials> {
  const found = new Map<string, string>();
  for (const name of Object.values(variables)) {
    const value = env[name];
    if (value) found.set(name.toLowerCase(), value);
    delete env[name];
  }
  const path = config.backupS3CredentialsFile;
  return path === null ? credentialsFrom(found, 'the environment') : credentialsFrom(await readFile(path), path);
}

function credentialsFrom(found: ReadonlyMap<string, string>, where: string): S3Credentials {
  const get = (name: keyof typeof variables): string | undefined => {
    const value = found.get(variables[name].toLowerCase());
    if (value !== undefined && !plain.test(value)) {
      throw new CommandError(`${variables[name].toLowerCase()} of ${where} has characters that no credential has.`);
    }
    return value;
  };
  const [accessKeyId, secretAccessKey, sessionToken] = [
    get('accessKeyId'),
    get('secretAccessKey'),
    get('sessionToken'),
  ];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new CommandError(
      `A bucket needs credentials, and ${where} has none whole: name a file with aws_access_key_id and aws_secret_access_key in LODGE_BACKUP_S3_CREDENTIALS_FILE, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    );
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

/** The first section of a credentials file, by lower-case name. Nobody but its owner may read the file. */
async function readFile(path: string): Promise<Map<string, string>> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: NodeJS.ErrnoException) => {
    throw new CommandError(`The credentials in ${path} cannot be read: ${cause.code ?? 'unknown'}.`, { cause });
  });
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > maxFileBytes) throw new CommandError(`${path} is no file of credentials.`);
    if ((facts.mode & 0o077) !== 0) {
      throw new CommandError(`Others than its owner may read ${path}, which has credentials: chmod 600 ${path}`);
    }
    return linesOf(await file.readFile('utf8'));
  } finally {
    await file.close();
  }
}

function linesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let sections = 0;
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('[')) sections += 1;
    const at = line.indexOf('=');
    if (sections < 2 && at > 0) found.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return found;
}
