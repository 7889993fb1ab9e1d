/** Values of options and arguments: pairs, numbers, texts in files, and bodies of requests. */
import { readFile, stat } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { usageError } from './failure.ts';
import type { Run } from './run.ts';
import { readStdin } from './terminal/prompt.ts';
import { quoted } from './terminal/safe.ts';

/** No text or body that is sent as JSON may be larger. */
const maxTextBytes = 4 * 1024 * 1024;

/** Parses an option that is given several times. */
export const several = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value];

/** Parses an option `name=value` that is given several times. */
export function pairs(value: string, before: Readonly<Record<string, string>> | undefined): Record<string, string> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be a name, an equals sign and a value.');
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}

/** Makes a parser of whole numbers between two bounds. */
export const integer =
  (least: number, most: number) =>
  (value: string): number => {
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

/** Reads a text file, or stdin where its name is `-`. */
export async function readText(run: Run, path: string): Promise<string> {
  if (path === '-') return readStdin(run.signal);
  try {
    const { size } = await stat(path);
    if (size > maxTextBytes) throw usageError(`${quoted(path)} is too large.`);
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw usageError(`${quoted(path)} cannot be read: ${code}.`);
  }
}

/** Reads a JSON object from a file, or from stdin where its name is `-`. */
export async function readObject(run: Run, path: string): Promise<Record<string, unknown>> {
  const text = await readText(run, path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw usageError(`${quoted(path)} is not JSON.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw usageError(`${quoted(path)} must hold a JSON object.`);
}

/** Returns the object without its undefined values, as bodies and queries are sent. */
export function given<T extends object>(values: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };
}
