/**
 * Checks a value by the JSON Schema of the files, and says what is wrong in words of the person who wrote it. It knows the
 * keywords that the schema uses; a test compares them. An editor's check by the same schema finds the same.
 */
import { quoted } from '../../terminal/safe.ts';
import { nearest } from './near.ts';

export type Path = readonly (string | number)[];
export interface Schema {
  readonly [keyword: string]: unknown;
}
export interface Finding {
  readonly path: Path;
  /** Whether the key is wrong, and not its value. */
  readonly isKey?: true;
  readonly message: string;
}

/** A place of the file where a secret's source stands. */
export interface SecretPlace {
  readonly path: Path;
  readonly source: SecretSource;
  /** Bounds of the secret itself. */
  readonly bounds: Schema;
}
export interface SecretSource {
  readonly env?: string;
  readonly file?: string;
  readonly stdin?: true;
  readonly prefix?: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Keywords that bound values. */
export const checkedKeywords: readonly string[] = [
  '$ref type const enum allOf anyOf oneOf not if else x-secret',
  'properties required additionalProperties propertyNames maxProperties',
  'items minItems maxItems uniqueItems minLength maxLength pattern minimum maximum',
].flatMap((words) => words.split(' '));
/** Keywords that say something to a person or an editor. `at` has a pattern beside its `format`. */
export const plainKeywords: readonly string[] = ['$schema', '$defs', 'title', 'description', 'default', 'format'];

/** More are not told at once. */
const maxFindings = 50;

export class Checker {
  readonly findings: Finding[] = [];
  readonly secrets: SecretPlace[] = [];
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** Notes what is wrong with the value. */
  check(schema: Schema | boolean, value: unknown, path: Path): void {
    if (this.findings.length >= maxFindings || schema === true) return;
    if (schema === false) return this.#note(path, 'must not be given here');
    if (typeof schema['$ref'] === 'string') this.check(this.#definition(schema['$ref']), value, path);
    const isRight = typeMatches(schema['type'], value);
    if (!isRight) return this.#note(path, `must be ${typeWords(schema['type'])}${hintFor(schema, value)}`);
    this.#checkConstants(schema, value, path);
    if (typeof value === 'string') this.#checkText(schema, value, path);
    if (typeof value === 'number') this.#checkNumber(schema, value, path);
    if (Array.isArray(value)) this.#checkList(schema, value, path);
    if (isMap(value)) this.#checkMap(schema, value, path);
    this.#checkConditions(schema, value, path);
    const bounds = schema['x-secret'] as Schema | undefined;
    if (bounds !== undefined && isMap(value)) this.secrets.push({ path, source: value, bounds });
  }

  #note(path: Path, message: string, isKey?: true): void {
    if (this.findings.length < maxFindings) this.findings.push({ path, message, ...(isKey && { isKey }) });
  }

  #definition(pointer: string): Schema {
    const name = pointer.replace('#/$defs/', '');
    return (this.#root['$defs'] as Readonly<Record<string, Schema>>)[name]!;
  }

  #checkConstants({ const: constant, enum: words }: Schema, value: unknown, path: Path): void {
    if (constant !== undefined && value !== constant) this.#note(path, `must be ${JSON.stringify(constant)}`);
    if (!Array.isArray(words) || words.includes(value)) return;
    const near = typeof value === 'string' ? nearest(value, words as string[]) : undefined;
    const meant = near === undefined ? '' : `; did you mean ${quoted(near)}?`;
    this.#note(path, `must be one of ${words.join(', ')}${meant}`);
  }

  #checkText({ minLength, maxLength, pattern }: Schema, value: string, path: Path): void {
    const length = Array.from(value.slice(0, 2_100_000)).length;
    if (length < (minLength as number)) return this.#note(path, `must not be empty`);
    if (length > (maxLength as number))
      return this.#note(path, `has ${length} characters, and may have ${String(maxLength)}`);
    if (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(value)) return;
    const isAnyText = pattern.startsWith('^[^\\u0000');
    this.#note(path, isAnyText ? 'has a character that is not allowed' : `does not have the form ${pattern}`);
  }

  #checkNumber({ minimum, maximum }: Schema, value: number, path: Path): void {
    if (value < (minimum as number)) this.#note(path, `must be at least ${String(minimum)}`);
    if (value > (maximum as number)) this.#note(path, `must be at most ${String(maximum)}`);
  }

  #checkList({ items, minItems, maxItems, uniqueItems }: Schema, value: readonly unknown[], path: Path): void {
    if (value.length < (minItems as number)) this.#note(path, `needs ${String(minItems)} or more`);
    if (value.length > (maxItems as number)) return this.#note(path, tooMany(maxItems as number));
    if (uniqueItems === true && new Set(value.map((each) => JSON.stringify(each))).size < value.length)
      this.#note(path, 'names something twice');
    if (items === undefined) return;
    for (const [at, each] of value.entries()) this.check(items as Schema, each, [...path, at]);
  }

  #checkMap(schema: Schema, value: Values, path: Path): void {
    const { maxProperties, propertyNames, additionalProperties: others = true, required = [] } = schema;
    const keys = Object.keys(value);
    if (keys.length > (maxProperties as number)) return this.#note(path, tooMany(maxProperties as number));
    for (const name of required as string[]) {
      if (!Object.hasOwn(value, name)) this.#note(path, `needs ${name}`);
    }
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
    for (const key of keys) {
      const inner = [...path, key];
      if (propertyNames !== undefined) this.#checkName(propertyNames as Schema, key, inner);
      if (Object.hasOwn(properties, key)) this.check(properties[key]!, value[key], inner);
      else if (others === false) this.#note(inner, unknownField(key, Object.keys(properties)), true);
      else this.check(others as Schema, value[key], inner);
    }
  }

  #checkName(schema: Schema, key: string, path: Path): void {
    for (const { message } of this.#tried(schema, key, path).findings) this.#note(path, `as a name ${message}`, true);
  }

  #checkConditions(schema: Schema, value: unknown, path: Path): void {
    const { allOf, anyOf, oneOf, if: condition, else: otherwise } = schema as Readonly<Record<string, Schema>>;
    for (const each of (allOf as unknown as readonly Schema[] | undefined) ?? []) this.check(each, value, path);
    if (condition !== undefined && otherwise !== undefined && !this.#holds(condition, value, path))
      this.check(otherwise, value, path);
    if (anyOf !== undefined) this.#checkChoice(anyOf as unknown as readonly Schema[], value, path, false);
    if (oneOf !== undefined) this.#checkChoice(oneOf as unknown as readonly Schema[], value, path, true);
  }

  #checkChoice(choices: readonly Schema[], value: unknown, path: Path, isOne: boolean): void {
    const holding = choices.filter((choice) => this.#holds(choice, value, path)).length;
    if (isOne ? holding === 1 : holding > 0) {
      // Sources of secrets lie in what was chosen.
      for (const choice of choices) this.secrets.push(...this.#tried(choice, value, path).secrets);
      return;
    }
    const names = choices.flatMap(({ required }) => (required as string[] | undefined) ?? []);
    if (names.length === choices.length)
      return this.#note(path, `needs ${isOne ? 'exactly' : 'at least'} one of ${names.join(', ')}`);
    const meant = choices.find((choice) => this.#typeOf(choice, value));
    if (meant !== undefined) return this.check(meant, value, path);
    const words = choices.map((choice) => typeWords(this.#resolved(choice)['type']));
    this.#note(path, `must be ${words.join(' or ')}`);
  }

  #resolved(schema: Schema): Schema {
    return typeof schema['$ref'] === 'string' ? this.#definition(schema['$ref']) : schema;
  }

  #typeOf(schema: Schema, value: unknown): boolean {
    return typeMatches(this.#resolved(schema)['type'], value);
  }

  #holds(schema: Schema, value: unknown, path: Path): boolean {
    const { not } = schema;
    if (not !== undefined && this.#holds(not as Schema, value, path)) return false;
    return this.#tried(schema, value, path).findings.length === 0;
  }

  #tried(schema: Schema, value: unknown, path: Path): Checker {
    const checker = new Checker(this.#root);
    checker.check(schema, value, path);
    return checker;
  }
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

function typeMatches(types: unknown, value: unknown): boolean {
  if (types === undefined) return true;
  return [types].flat().some((type: unknown) => {
    switch (type) {
      case 'object':
        return isMap(value);
      case 'array':
        return Array.isArray(value);
      case 'integer':
        return Number.isSafeInteger(value);
      case 'null':
        return value === null;
      default:
        return typeof value === type;
    }
  });
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};
const typeWords = (types: unknown): string =>
  [types]
    .flat()
    .map((type) => typeNames[String(type)] ?? 'another value')
    .join(' or ');

/** Says how to write it. */
function hintFor(schema: Schema, value: unknown): string {
  if (schema['additionalProperties'] === false && isSecret(schema))
    return ': name where the secret lies, such as {env: NAME}';
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  return isPlain && [schema['type']].flat().includes('string') ? ': put it in quotes' : '';
}

const isSecret = ({ properties }: Schema): boolean => isMap(properties) && 'env' in properties && 'stdin' in properties;
const tooMany = (most: number): string => `may have at most ${most}`;

function unknownField(key: string, known: readonly string[]): string {
  const near = nearest(key, known);
  if (near !== undefined) return `is not a field here; did you mean ${near}?`;
  return `is not a field here; there are ${known.join(', ')}`;
}
