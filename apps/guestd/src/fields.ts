/** Checks of JSON fields; each throws a 400 that names the field. */
import { Refusal } from './errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal(400, 'the body must be a JSON object');
  }
  return value as Fields;
}

export function optional<T>(fields: Fields, key: string, read: (fields: Fields, key: string) => T): T | undefined {
  return fields[key] === undefined ? undefined : read(fields, key);
}

export function text(fields: Fields, key: string): string {
  const value = fields[key];
  if (!isText(value)) throw new Refusal(400, `${key} must be a string`);
  return value;
}

/** May hold NUL bytes: for what is written to a stream. */
export function anyText(fields: Fields, key: string): string {
  const value = fields[key];
  if (typeof value !== 'string') throw new Refusal(400, `${key} must be a string`);
  return value;
}

export function integer(fields: Fields, key: string, least: number, most: number): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw new Refusal(400, `${key} must be a whole number, ${least} to ${most}`);
  }
  return value;
}

export function oneOf<const T extends string>(fields: Fields, key: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === fields[key]);
  if (found === undefined) throw new Refusal(400, `${key} must be one of: ${choices.join(', ')}`);
  return found;
}

export function yesNo(fields: Fields, key: string): boolean {
  const value = fields[key];
  if (typeof value !== 'boolean') throw new Refusal(400, `${key} must be true or false`);
  return value;
}

export function textList(fields: Fields, key: string): string[] {
  const value = fields[key];
  if (!Array.isArray(value) || !value.every(isText)) throw new Refusal(400, `${key} must be a list of strings`);
  return value;
}

export function textMap(fields: Fields, key: string): Record<string, string> {
  const value = fields[key];
  const good =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
  if (!good) throw new Refusal(400, `${key} must be an object of strings`);
  return value as Record<string, string>;
}

/** A NUL byte ends a C string: no argument, path or variable can hold one. */
const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
