/** The contexts: deployments of Lodge under names, of which one is used where nothing else is said. */
import { join } from 'node:path';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import { quoted } from '../terminal/safe.ts';
import { configFolder, readPrivate, writePrivate } from './folder.ts';

export interface Context {
  /** Origin of the deployment, without /v1. */
  readonly url: string;
  /** The place of its key. */
  readonly key: 'keyring' | 'file' | 'none';
  /** The key was made for this machine by `lodge login`. One that was given may be used elsewhere too. */
  readonly isOwn: boolean;
}

export interface Config {
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, Context>>;
}

const none: Config = { current: null, contexts: {} };
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const pathOf = (env: NodeJS.ProcessEnv): string => join(configFolder(env), 'config.json');

export async function readConfig(env: NodeJS.ProcessEnv): Promise<Config> {
  const text = await readPrivate(pathOf(env));
  if (text === undefined) return none;
  const config = parsed(text);
  if (config === undefined)
    throw new CommandError(
      exitCodes.failure,
      `${pathOf(env)} is not a configuration of Lodge's.`,
      'Mend or remove it.',
    );
  return config;
}

export async function writeConfig(env: NodeJS.ProcessEnv, config: Config): Promise<void> {
  await writePrivate(pathOf(env), `${JSON.stringify({ version: 1, ...config }, null, 2)}\n`);
}

function parsed(text: string): Config | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !isRecord(value['contexts'])) return undefined;
  const contexts: Record<string, Context> = {};
  for (const [name, context] of Object.entries(value['contexts'])) {
    if (!namePattern.test(name) || !isRecord(context) || typeof context['url'] !== 'string') return undefined;
    const { key } = context;
    const place = key === 'keyring' || key === 'file' ? key : 'none';
    contexts[name] = { url: context['url'], key: place, isOwn: context['isOwn'] === true };
  }
  const { current } = value;
  return { current: typeof current === 'string' && Object.hasOwn(contexts, current) ? current : null, contexts };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function checkedName(name: string): string {
  if (namePattern.test(name)) return name;
  throw usageError(
    `${quoted(name)} cannot be the name of a context.`,
    'Use up to 64 letters, digits, dots, hyphens and underscores.',
  );
}

/** Returns the origin of an address that somebody gave, with or without /v1 at its end. */
export function checkedUrl(given: string, from: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw usageError(`${from}: ${quoted(given)} is not an address.`, 'Give one such as https://lodge.example.com.');
  if (url.username !== '' || url.password !== '')
    throw usageError(`${from}: an address holds no password or key.`, 'Sign in with `lodge login`.');
  const path = url.pathname.replace(/\/v1\/?$/, '').replace(/\/$/, '');
  return `${url.origin}${path}`;
}

/** Returns the context of this name. */
export function contextNamed(config: Config, name: string): Context {
  const context = Object.hasOwn(config.contexts, name) ? config.contexts[name] : undefined;
  if (context !== undefined) return context;
  const names = Object.keys(config.contexts).sort();
  throw new CommandError(
    exitCodes.usage,
    `There is no context ${quoted(name)}.`,
    names.length === 0 ? 'Make one with `lodge login`.' : `There are: ${names.join(', ')}.`,
  );
}
