/** Which deployment a command speaks to, and with which key. */
import { checkedUrl, contextNamed, readConfig } from './config.ts';
import type { Config } from './config.ts';
import { readKey } from './keys.ts';

export const defaultUrl = 'http://127.0.0.1:8080';

export interface ChoiceOptions {
  readonly context?: string;
  readonly url?: string;
}

export interface Choice {
  /** The context's name; null where only an address was given. */
  readonly name: string | null;
  /** Origin, without /v1. */
  readonly url: string;
  readonly apiKey: string | undefined;
  /** The variable of the key, where it came from one. */
  readonly keyFrom: string | undefined;
}

/**
 * Options go before variables, and variables before the current context. The key of a context goes to the context's own
 * address alone.
 */
export async function chooseContext(env: NodeJS.ProcessEnv, options: ChoiceOptions): Promise<Choice> {
  const config = await readConfig(env);
  const { name, url } = placeOf(config, env, options);
  const context = name === null ? undefined : contextNamed(config, name);
  const ownKey = context?.url === url ? context : undefined;
  const fromEnv = env['LODGE_API_KEY'] === '' ? undefined : env['LODGE_API_KEY'];
  // A context that was named has a key of its own, which the variable is not meant for.
  const takesEnv = options.context === undefined || ownKey === undefined || ownKey.key === 'none';
  if (fromEnv !== undefined && takesEnv) return { name, url, apiKey: fromEnv.trim(), keyFrom: 'LODGE_API_KEY' };
  const apiKey = ownKey === undefined ? undefined : await readKey(env, name!, ownKey);
  return { name, url, apiKey, keyFrom: undefined };
}

/** Returns the address that a command goes to, and the context that it has. */
export function placeOf(
  config: Config,
  env: NodeJS.ProcessEnv,
  options: ChoiceOptions,
): { readonly name: string | null; readonly url: string } {
  const fromEnv = env['LODGE_URL'] === '' ? undefined : env['LODGE_URL'];
  if (options.url !== undefined) return withName(config, checkedUrl(options.url, '--url'), options.context);
  if (options.context !== undefined) return { name: options.context, url: contextNamed(config, options.context).url };
  if (fromEnv !== undefined) return withName(config, checkedUrl(fromEnv, 'LODGE_URL'), undefined);
  if (config.current === null) return { name: null, url: defaultUrl };
  return { name: config.current, url: contextNamed(config, config.current).url };
}

function withName(config: Config, url: string, named: string | undefined): { name: string | null; url: string } {
  if (named !== undefined) return { name: named, url };
  const isThere = (name: string | null): name is string => name !== null && config.contexts[name]?.url === url;
  const name = isThere(config.current) ? config.current : Object.keys(config.contexts).find(isThere);
  return { name: name ?? null, url };
}
