import { Refusal } from '@lodge/domain';
import { patternMeanings, timestampMeaning } from '@lodge/contract';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { malformedQuery } from './query.ts';

/** The parts of JSON Schema that this file reads. */
interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
}

type Invalid = TLocalizedValidationError;

/** A message's name for the whole of each part. */
const wholes: Readonly<Record<string, string>> = { body: 'The body', querystring: 'The query' };
/** A message's name for an unknown field of each part. */
const fieldNouns: Readonly<Record<string, string>> = { body: 'field', querystring: 'query parameter' };

/**
 * Compiles the contract's schemas into validators whose refusal names the field. Path parameters are not checked here: a
 * malformed id is an agent that does not exist, which shows after the check of the body.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  if (httpPart === 'params') return () => true;
  const node = schema as SchemaNode;
  const validator = Compile(schema);
  return (given: unknown) => {
    if (isMalformed(given))
      return { error: new Refusal('invalid_request', 'The query is not valid percent-encoding.') };
    const value = httpPart === 'querystring' ? convertQuery(node, given) : (given ?? {});
    if (validator.Check(value)) return { value };
    return { error: new Refusal('invalid_request', messageOf(node, validator.Errors(value), httpPart)) };
  };
};

const isMalformed = (given: unknown): boolean => typeof given === 'object' && given !== null && malformedQuery in given;

/** Query values are text: values that the schema wants as integers become integers if they are written as such. */
function convertQuery(schema: SchemaNode, given: unknown): unknown {
  const query = given as Record<string, unknown>;
  for (const [name, value] of Object.entries(query)) {
    const wanted = schema.properties?.[name]?.type;
    if (wanted === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) query[name] = Number(value);
  }
  return query;
}

function messageOf(schema: SchemaNode, errors: readonly Invalid[], part: string): string {
  const error = tellingError(schema, errors);
  if (!error) return `${wholes[part] ?? 'The request'} is not valid.`;
  const path = segmentsOf(error.instancePath);
  const words = ruleOf(schema, error)?.description;
  if (words !== undefined) return `${path.length === 0 ? (wholes[part] ?? 'The request') : nameOf(path)} ${words}.`;
  if (error.keyword === 'dependentRequired') {
    const { property, dependencies } = error.params;
    return `${nameOf([...path, property])} goes with ${dependencies.join(' and ')} alone.`;
  }
  if (error.keyword === 'required') {
    return `${nameOf([...path, error.params.requiredProperties[0]!])} is required.`;
  }
  if (error.keyword === 'additionalProperties') {
    const field = nameOf([...path, error.params.additionalProperties[0]!]);
    return `${field} is not a known ${fieldNouns[part] ?? 'header'}.`;
  }
  if (error.keyword === 'propertyNames') return `${nameOf(path)} has a key that is empty, too long or not plain text.`;
  const name = path.length === 0 ? (wholes[part] ?? 'The request') : nameOf(path);
  const missing = error.keyword === 'type' || error.keyword === 'minLength' || error.keyword === 'minItems';
  return `${name} ${missing && isRequired(schema, path) ? 'is required and ' : ''}${demandOf(error)}.`;
}

/** The error to report: one of a field before one of a rule between fields, and the rule's own before those of its parts. */
function tellingError(schema: SchemaNode, errors: readonly Invalid[]): Invalid | undefined {
  // "boolean" repeats for each unknown property the report of "additionalProperties" for all.
  const plain = errors.filter((error) => ruleOf(schema, error) === null);
  const first = plain.find(({ keyword }) => keyword !== 'boolean') ?? plain[0];
  if (first) return deepestOfUnion(first, plain);
  if (errors.length === 0) return undefined;
  const rule = ruleOf(schema, errors[0]!);
  const ofRule = errors.filter((error) => ruleOf(schema, error) === rule);
  return ofRule.find(({ keyword }) => ownKeywords.has(keyword)) ?? ofRule[0];
}

/** Returns the error furthest inside the value among those of a union: its branch is most likely the one that was meant. */
function deepestOfUnion(first: Invalid, errors: readonly Invalid[]): Invalid {
  const place = first.schemaPath.indexOf('/anyOf/');
  if (place === -1) return first;
  const union = first.schemaPath.slice(0, place + '/anyOf/'.length);
  const depth = ({ instancePath }: Invalid): number => segmentsOf(instancePath).length;
  const inside = errors.filter(({ schemaPath }) => schemaPath.startsWith(union));
  return inside.reduce((deepest, error) => (depth(error) > depth(deepest) ? error : deepest), first);
}

const ownKeywords: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'not']);

/** The rule between fields that an error belongs to, an entry of an `allOf`; null if it belongs to a field itself. */
function ruleOf(schema: SchemaNode, { schemaPath }: Invalid): SchemaNode | null {
  const path = segmentsOf(schemaPath);
  const place = path.lastIndexOf('allOf');
  return place === -1 ? null : (at(schema, path.slice(0, place + 2)) as SchemaNode);
}

const at = (node: unknown, path: readonly string[]): unknown =>
  path.reduce((parent: unknown, key) => (parent as Record<string, unknown> | undefined)?.[key], node);

/** The demand of each keyword of JSON Schema on a value. */
const demands: { readonly [E in Invalid as E['keyword']]?: (params: E['params']) => string } = {
  type: ({ type }) => `must be ${[type].flat().map(typeWord).join(' or ')}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be blank' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  pattern: ({ pattern }) => patternMeanings[String(pattern)] ?? 'is not of the right form',
  enum: ({ allowedValues }) =>
    `must be one of ${allowedValues
      .filter((value) => value !== null)
      .map(String)
      .join(', ')}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minItems: () => 'must not be empty',
  maxItems: ({ limit }) => `must have at most ${limit} elements`,
  format: () => timestampMeaning,
  minProperties: () => 'must not be empty',
  maxProperties: ({ limit }) => `must have at most ${limit} pairs`,
};

function demandOf(error: Invalid): string {
  const demand = demands[error.keyword] as ((params: Invalid['params']) => string) | undefined;
  return demand?.(error.params) ?? error.message;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};
const typeWord = (type: string): string => typeWords[type] ?? type;

/** Whether the place that `path` leads to is a required property. */
function isRequired(schema: SchemaNode, path: readonly string[]): boolean {
  const last = path.at(-1);
  let parent: SchemaNode | undefined = schema;
  for (const segment of path.slice(0, -1)) parent = parent?.properties?.[segment] ?? parent?.items;
  return last !== undefined && (parent?.required?.includes(last) ?? false);
}

/** A JSON pointer's segments. */
const segmentsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

/** `llm_keys[0].api_key`. A name that is no plain word is the client's own: it is quoted and cut. */
function nameOf(path: readonly string[]): string {
  return path.reduce((name, segment) => {
    if (/^\d{1,9}$/.test(segment)) return `${name}[${segment}]`;
    const word = /^[\w-]{1,64}$/.test(segment) ? segment : JSON.stringify(segment.slice(0, 64));
    return name === '' ? word : `${name}.${word}`;
  }, '');
}
