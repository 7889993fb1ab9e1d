/** Arguments of tools. One table makes the schema for the guest and checks the guest's values. */
import type { Json } from '../basics/bounded-json.ts';
import { Refusal } from '../refusal.ts';

export interface TextField {
  readonly type: 'text';
  readonly maxChars: number;
  /** The only texts that are allowed. */
  readonly words?: readonly string[];
  readonly optional?: true;
  readonly description: string;
}

export interface IntegerField {
  readonly type: 'integer';
  readonly min: number;
  readonly max: number;
  readonly optional?: true;
  readonly description: string;
}

/** A list of texts; no text is in it twice. */
export interface TextsField {
  readonly type: 'texts';
  readonly maxItems: number;
  /** Bound on each text. */
  readonly maxChars: number;
  readonly optional?: true;
  readonly description: string;
}

export interface FlagField {
  readonly type: 'flag';
  readonly optional?: true;
  readonly description: string;
}

export type ToolField = TextField | IntegerField | TextsField | FlagField;
export type ToolFields = Readonly<Record<string, ToolField>>;

type Value<Field> = Field extends IntegerField
  ? number
  : Field extends TextsField
    ? readonly string[]
    : Field extends FlagField
      ? boolean
      : string;
/** The values that a table of fields reads; an absent field is undefined. */
export type ToolArguments<Fields extends ToolFields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends { readonly optional: true }
    ? Value<Fields[Name]> | undefined
    : Value<Fields[Name]>;
};

/** Returns the JSON Schema of an object with these fields. */
export function schemaOf(fields: ToolFields): Json {
  const named = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(named.map(([name, field]) => [name, schemaOfField(field)])),
    required: named.filter(([, { optional }]) => optional !== true).map(([name]) => name),
    additionalProperties: false,
  };
}

function schemaOfField(field: ToolField): Json {
  const { description } = field;
  if (field.type === 'flag') return { type: 'boolean', description };
  if (field.type === 'integer') return { type: 'integer', minimum: field.min, maximum: field.max, description };
  if (field.type === 'texts') {
    const items = { type: 'string', minLength: 1, maxLength: field.maxChars };
    return { type: 'array', items, maxItems: field.maxItems, uniqueItems: true, description };
  }
  const { maxChars, words } = field;
  return { type: 'string', minLength: 1, maxLength: maxChars, description, ...(words && { enum: [...words] }) };
}

/** Reads arguments. Refuses with `invalid_request` and one sentence that names the field. */
export function readArguments<Fields extends ToolFields>(fields: Fields, given: Json): ToolArguments<Fields> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined)
    throw wrong(`${JSON.stringify(unknown.slice(0, 64).toWellFormed())} is not a known argument.`);
  const read = Object.entries(fields).map(([name, field]) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return [name, valueOf(name, field, value)] as const;
  });
  return Object.fromEntries(read) as ToolArguments<Fields>;
}

type Read = string | number | boolean | readonly string[] | undefined;

function valueOf(name: string, field: ToolField, value: unknown): Read {
  if (value === undefined || value === null) {
    if (field.optional === true) return undefined;
    throw wrong(`${name} is missing.`);
  }
  if (field.type === 'integer') {
    const { min, max } = field;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    throw wrong(`${name} must be a whole number from ${min} to ${max}.`);
  }
  if (field.type === 'flag') {
    if (typeof value === 'boolean') return value;
    throw wrong(`${name} must be true or false.`);
  }
  return field.type === 'texts' ? textsOf(name, field, value) : textOf(name, field, value);
}

function textsOf(name: string, { maxItems, maxChars }: TextsField, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw wrong(`${name} must be a list of texts.`);
  if (value.length > maxItems) throw wrong(`${name} must have at most ${maxItems} texts.`);
  const texts = value.map((each, at) => textOf(`${name}[${at}]`, { maxChars }, each));
  if (new Set(texts).size < texts.length) throw wrong(`${name} must not have a text twice.`);
  return texts;
}

function textOf(name: string, field: Pick<TextField, 'maxChars' | 'words'>, value: unknown): string {
  if (typeof value !== 'string') throw wrong(`${name} must be a text.`);
  if (value.length > field.maxChars) throw wrong(`${name} must have at most ${field.maxChars} characters.`);
  if (value.trim() === '') throw wrong(`${name} must not be blank.`);
  if (value.includes('\0') || !value.isWellFormed()) throw wrong(`${name} has characters that are no text.`);
  if (field.words && !field.words.includes(value)) throw wrong(`${name} must be one of ${field.words.join(', ')}.`);
  return value;
}

const wrong = (message: string): Refusal => new Refusal('invalid_request', message);
