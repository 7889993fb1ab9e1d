/** Makes the requests of every operation from its cases, and says where the server and the document disagree. */
import type { Boundaries } from './boundaries.ts';
import type { Operation, Schema } from './document.ts';
import { aboutNobody, anyQuery, namedRules, onlyWrong } from './named-rules.ts';
import type { Breach, Replies } from './replies.ts';

const maxBodyBytes = 1024 * 1024;
const nobody = 'aaaaaaaaaaaa';

export interface Asked {
  readonly operation: Operation;
  /** Whether it asks about what is there. */
  readonly isReal: boolean;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Whether the document accepts it. */
  readonly isGood: boolean;
  readonly broken: readonly Breach[];
  /** The path of the field that was changed. */
  readonly names: readonly string[];
}

export const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;

/** Makes the requests of an operation: one of each kind that the document refuses, and all that it accepts. */
export function requestsOf(operation: Operation, boundaries: Boundaries, replies: Replies): Asked[] {
  const name = nameOf(operation);
  const body = operation.schema.requestBody?.content['application/json']?.schema;
  const good = body && boundaries.plain(body);
  const plain = { operation, query: '', headers: neededHeaders(operation, boundaries), body: good, names: [] };
  // A body that has several kinds is asked for about each that it gives as an example.
  const examples: readonly unknown[] = body === undefined ? [] : boundaries.examples(body);
  const bodies = body
    ? [good, ...(examples.length > 1 ? examples : [])]
        .flatMap((one) => [...boundaries.cases(body, one)])
        .map(({ value, at }) => ({
          ...plain,
          body: value,
          ...verdict(replies, body, value),
          names: at,
        }))
    : [];
  const all = [
    ...bodies,
    ...(anyQuery.test(name) ? [] : queriesOf(operation, boundaries, replies, plain)),
    ...headersOf(operation, boundaries, replies, plain),
  ];
  const asked = all.map((one) => ({ ...one, isReal: !one.isGood || !aboutNobody.test(name) }));
  const unique = [...new Map(asked.toReversed().map((one) => [kindOf(one), one])).values()];
  return unique.filter(({ isGood }) => !isGood || !onlyWrong.test(name));
}

/** Two requests that the document refuses are of one kind if they break the same keywords at the same places. */
const kindOf = ({ isGood, broken, names, query, headers, body }: Asked): string =>
  JSON.stringify(
    isGood ? [query, headers, body] : [query !== '', Object.keys(headers), names, broken.map(({ place }) => place)],
  );

type Draft = Omit<Asked, 'isReal'>;
type Plain = Omit<Draft, 'isGood' | 'broken'>;

function verdict(replies: Replies, schema: Schema, value: unknown): Pick<Asked, 'isGood' | 'broken'> {
  const isGood = replies.fits(schema, value);
  return { isGood, broken: isGood ? [] : replies.broken(schema, value) };
}

function queriesOf({ schema }: Operation, boundaries: Boundaries, replies: Replies, plain: Plain): Draft[] {
  const parameters: Schema[] = schema.parameters.filter((one: Schema) => one.in === 'query');
  const properties = Object.fromEntries(parameters.map((one) => [one.name, one.schema]));
  const query = { type: 'object', properties, additionalProperties: false, allOf: schema['x-query-rules'] ?? [] };
  return [...boundaries.cases(query, {})].flatMap(({ value, at }) => {
    if (typeof value !== 'object' || value === null) return [];
    const pairs = Object.entries(value).flatMap(([name, field]) => pairsOf(name, field));
    const sent = new Map<string, unknown>();
    for (const [name, text] of pairs) sent.set(name, sent.has(name) ? [sent.get(name), text] : text);
    const read = Object.fromEntries([...sent].map(([name, text]) => [name, asRead(properties[name], text)]));
    // Values that are objects in a query have tests of their own.
    if (
      Object.values(properties).some(
        (one: Schema) => one.type === 'object' && read[at[0]!] !== undefined && properties[at[0]!] === one,
      )
    )
      return [];
    return [{ ...plain, query: new URLSearchParams(pairs).toString(), ...verdict(replies, query, read), names: at }];
  });
}

/** Writes a value as a query does. */
function pairsOf(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.map((item) => [name, textOf(item)]);
  return [[name, textOf(value)]];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value));

/** Reads a value of a query as the server does: digits are a number where the schema wants one. */
const asRead = (schema: Schema, text: unknown): unknown =>
  schema?.type === 'integer' && typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;

/** Headers without which an operation is always refused. */
function neededHeaders({ schema }: Operation, boundaries: Boundaries): Readonly<Record<string, string>> {
  const needed: Schema[] = schema.parameters.filter((one: Schema) => one.in === 'header' && one.required === true);
  return Object.fromEntries(needed.map((one) => [one.name, String(one['example'] ?? boundaries.plain(one.schema))]));
}

function headersOf({ schema }: Operation, boundaries: Boundaries, replies: Replies, plain: Plain): Draft[] {
  const parameters: Schema[] = schema.parameters.filter((one: Schema) => one.in === 'header');
  return parameters.flatMap((one) =>
    [...boundaries.cases(one.schema)].flatMap(({ value }) => {
      // A client sends no others, and trims them.
      if (typeof value !== 'string' || !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return [];
      return [
        {
          ...plain,
          headers: { ...plain.headers, [one.name]: value },
          ...verdict(replies, one.schema, value),
          names: [one.name],
        },
      ];
    }),
  );
}

export interface Outcome {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** Says how an answer disagrees with the verdict of the document on its request; null where it does not. */
export function disagreement(asked: Asked, { status, code, message }: Outcome, used: Set<number>): string | null {
  if (status >= 500 && status !== 503) return 'a 5xx';
  if (asked.body !== undefined && JSON.stringify(asked.body).length > maxBodyBytes) {
    return status === 413 ? null : 'a body that is too large is taken';
  }
  if (status !== 400) return asked.isGood ? null : 'the document refuses this, and the server does not';
  if (asked.isGood) {
    const index = namedRules.findIndex(
      ([operation, refusal]) => operation.test(nameOf(asked.operation)) && refusal.test(message),
    );
    used.add(index);
    return index === -1 ? 'the document accepts this, and the server does not' : null;
  }
  if (code !== 'invalid_request') return `the code is ${code}`;
  const expected = fieldsOf(asked);
  const lower = message.toLowerCase();
  if (expected.some((field) => lower.includes(field.toLowerCase()))) return null;
  return `the refusal does not name ${expected.join(' or ')}`;
}

/** Lists fields of which a refusal must name one: the field that was changed or, for a rule between fields, those of its object. */
function fieldsOf({ names, broken }: Asked): string[] {
  const isRuled = broken.length > 0 && broken.every(({ ruled }) => ruled !== null);
  if (isRuled) return broken.flatMap(({ ruled }) => ruled!);
  return [names.reduce((path, name) => path + (/^\d+$/.test(name) ? `[${name}]` : `${path && '.'}${name}`), '')];
}

/** Returns the path and query of a request, with ids of records that exist or, where it must have no effect, do not. */
export function targetOf({ operation, isReal, query }: Asked, known: Readonly<Record<string, string>>): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, parameter: string) => {
    if (!isReal && parameter === 'id') return nobody;
    return (
      (operation.path.includes('/members/') && parameter === 'name' ? known['member'] : known[parameter]) ?? nobody
    );
  });
  return query === '' ? path : `${path}?${query}`;
}
