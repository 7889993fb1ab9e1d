/**
 * Settings: the operator's environment variables, as the server and each adapter describe their own. The parsers are those that both
 * need; each throws an Error whose message completes "LODGE_X must be ...".
 */
import { isAbsolute, normalize } from 'node:path';

/** One variable. `fallback` is written as the variable itself would be, and goes through the same checks. */
export interface Setting<T> {
  readonly name: string;
  /** The accepted values, in words. */
  readonly type: string;
  readonly fallback: string | null;
  /** The meaning of an absent fallback, in words. */
  readonly fallbackNote?: string;
  readonly description: string;
  /** True where the value may hold a credential: it is never repeated in an error. */
  readonly secret?: true;
  /** Throws an Error whose message completes "LODGE_X must be ...". */
  readonly parse: (text: string) => T;
}

export function required<T>(
  name: string,
  type: string,
  fallback: string,
  description: string,
  parse: (text: string) => T,
): Setting<T> {
  return { name, type, fallback, description, parse };
}

export function optional<T>(
  name: string,
  type: string,
  fallbackNote: string,
  description: string,
  parse: (text: string) => T,
): Setting<T | null> {
  return { name, type, fallback: null, fallbackNote, description, parse };
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table of settings. */
export type ValuesOf<Of extends Settings> = { readonly [Key in keyof Of]: ReturnType<Of[Key]['parse']> };

export function integer(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) fail(`a whole number from ${least} to ${most}`);
    return value;
  };
}

export function matching(pattern: RegExp, words: string): (text: string) => string {
  return (text) => (pattern.test(text) ? text : fail(words));
}

export function file(text: string): string {
  return isAbsolute(text) && !text.endsWith('/') ? normalize(text) : fail('the absolute path of a file');
}

export function origin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : fail('a URL such as https://lodge.example.com');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') fail('an http or https URL');
  if (url.username || url.password || url.search || url.hash || url.pathname !== '/') {
    fail('a scheme, a host and at most a port (the API adds /v1 itself)');
  }
  return url.origin;
}

export function fail(expected: string): never {
  throw new Error(expected);
}
