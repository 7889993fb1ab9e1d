/**
 * Where keys of contexts are: in the system's keyring, if there is one that answers in time and keeps what it was given, else in a
 * file that only its owner can read. Keys are never arguments of a process.
 */
import { join } from 'node:path';
import { CommandError, exitCodes } from '../failure.ts';
import { configFolder, readPrivate, writePrivate } from './folder.ts';
import type { Context } from './config.ts';
import type { Question, Said } from './keyring.ts';

/** A keyring that asks its owner to unlock it may take longer to read than to find out that it is there. */
const writeTimeoutMs = 3000;
const readTimeoutMs = 30_000;

const pathOf = (env: NodeJS.ProcessEnv): string => join(configFolder(env), 'keys.json');

/** Keeps the key of a context, and returns where. */
export async function keepKey(
  env: NodeJS.ProcessEnv,
  name: string,
  url: string,
  key: string,
): Promise<'keyring' | 'file'> {
  if (await putInKeyring(env, account(name, url), key)) {
    await changeFile(env, (keys) => delete keys[name]);
    return 'keyring';
  }
  await changeFile(env, (keys) => (keys[name] = key));
  return 'file';
}

/** Returns the key of a context; undefined where there is none. */
export async function readKey(env: NodeJS.ProcessEnv, name: string, context: Context): Promise<string | undefined> {
  switch (context.key) {
    case 'none':
      return undefined;
    case 'file':
      return (await readFileOfKeys(env))[name];
    case 'keyring': {
      const said = await ask(env, { operation: 'get', account: account(name, context.url) }, readTimeoutMs);
      if (said !== undefined) return said.key ?? undefined;
      throw new CommandError(
        exitCodes.denied,
        "The system's keyring does not give the key.",
        'Unlock it, or sign in again with LODGE_KEYRING=off, which keeps the key in a file.',
      );
    }
  }
}

/** Forgets the key of a context, wherever it is. */
export async function forgetKey(env: NodeJS.ProcessEnv, name: string, context: Context): Promise<void> {
  if (context.key === 'keyring')
    await ask(env, { operation: 'delete', account: account(name, context.url) }, readTimeoutMs);
  await changeFile(env, (keys) => delete keys[name]);
}

const account = (name: string, url: string): string => `${name} ${url}`;

async function putInKeyring(env: NodeJS.ProcessEnv, account: string, key: string): Promise<boolean> {
  const said = await ask(env, { operation: 'set', account, key }, writeTimeoutMs);
  return said?.key === key;
}

/** Returns what the keyring says; undefined where there is none that lasts, or it fails, or it says nothing in time. */
async function ask(env: NodeJS.ProcessEnv, question: Question, timeoutMs: number): Promise<Said | undefined> {
  if (env['LODGE_KEYRING'] === 'off') return undefined;
  if (process.platform === 'linux' && env['DBUS_SESSION_BUS_ADDRESS'] === undefined) return undefined;
  const { askKeyring } = await import('./keyring.ts');
  return askKeyring(question, timeoutMs);
}

async function readFileOfKeys(env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const text = await readPrivate(pathOf(env));
  if (text === undefined) return {};
  try {
    const keys = JSON.parse(text) as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(keys).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
    );
  } catch {
    throw new CommandError(
      exitCodes.failure,
      `${pathOf(env)} is not a file of keys of Lodge's.`,
      'Remove it and sign in again.',
    );
  }
}

async function changeFile(env: NodeJS.ProcessEnv, change: (keys: Record<string, string>) => unknown): Promise<void> {
  const keys = await readFileOfKeys(env);
  const before = JSON.stringify(keys);
  change(keys);
  if (JSON.stringify(keys) !== before) await writePrivate(pathOf(env), `${JSON.stringify(keys, null, 2)}\n`);
}
