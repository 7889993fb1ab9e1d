import { Type } from 'typebox';
import type { Static, TSchema, TSchemaOptions, TUnsafe } from 'typebox';
import { packageForms, packageManagers, packagePatterns, variableNamePattern } from '@lodge/domain';
import { patterns } from './patterns.ts';

export { patterns } from './patterns.ts';

export const timestampMeaning = 'must be a timestamp such as 2026-01-31T12:00:00Z (RFC 3339)';

export const patternMeanings: Readonly<Record<string, string>> = {
  [patterns.timestamp]: timestampMeaning,
  ...Object.fromEntries(packageManagers.map((manager) => [packagePatterns[manager], packageForms[manager]])),
  [variableNamePattern]: 'must be letters, digits and underscores, with no digit first',
  [patterns.usd]: 'must be a positive amount such as "12.50", with at most 6 decimals',
  [patterns.text]: 'must not contain NUL or unpaired surrogates',
  [patterns.cursor]: 'must be a next_cursor as it was given',
  [patterns.localPath]: 'must be a path such as /chat?new=1, in printable ASCII',
  [patterns.token]: 'must be printable ASCII without spaces',
  [patterns.labelKey]:
    'must be lower case letters and digits, and between them also dots, hyphens, slashes and underscores',
  [patterns.uploadId]: 'must be 16 to 64 letters, digits, hyphens and underscores',
  [patterns.bytes]: 'must be a number of bytes',
  [patterns.phoneNumber]: 'must be a phone number with its country, such as +4915112345678',
  [patterns.webUrl]: 'must be a URL that begins with https:// or http://, in printable ASCII',
  [patterns.eventPattern]: 'must be a type such as agent.paused, a family such as agent.*, or *',
  [patterns.peer]: 'must be the id of an agent, or *',
  [patterns.headerName]: 'must be letters, digits and hyphens',
  [patterns.headerValue]: 'must be printable ASCII, without a space at either end',
  [patterns.hubSlug]: 'must be a name such as gifgrep or owner/repository/skill',
  [patterns.scope]: 'must be words of printable ASCII without quotes and backslashes, one space between two',
  [patterns.memberName]:
    'must be 2 to 32 lower case letters, digits and hyphens, a letter first, no hyphen last, and not main, default or openclaw',
};

/** A closed set of strings. */
export const oneOf = <const T extends string>(values: readonly T[], options: TSchemaOptions = {}) => {
  const schema = { type: 'string', enum: [...values], ...options } as const;
  return Type.Unsafe<T>(schema) as TUnsafe<T> & { readonly type: 'string' };
};

/** The same schema that also allows null, in the one form that serialises with one error and one branch. */
export function nullable<T extends TSchema & { readonly type: string }>(schema: T): TUnsafe<Static<T> | null> {
  const values = 'enum' in schema ? { enum: [...(schema.enum as unknown[]), null] } : {};
  return Type.Unsafe<Static<T> | null>({ ...schema, ...values, type: [schema.type, 'null'] });
}

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] });

/** Up to 50 pairs of strings for the client's own notes. */
const metadata = {
  type: 'object',
  description: 'Up to 50 pairs of strings: your own notes. What lists are to select by are `labels`.',
  maxProperties: 50,
  propertyNames: { type: 'string', minLength: 1, maxLength: 64, pattern: patterns.text },
  additionalProperties: { type: 'string', maxLength: 500, pattern: patterns.text },
  examples: [{ team: 'support' }],
};
export const Metadata = Type.Unsafe<Record<string, string>>(metadata);

/** Changes of metadata: null removes a pair, or all. */
export const MetadataChange = Type.Unsafe<Record<string, string | null> | null>({
  ...metadata,
  type: ['object', 'null'],
  additionalProperties: { ...metadata.additionalProperties, type: ['string', 'null'] },
  description: 'Pairs to set or, with null, to remove; others stay. Null removes all.',
});

const label = { type: 'string', maxLength: 63, pattern: patterns.text };
const labelKey = { type: 'string', minLength: 1, maxLength: 63, pattern: patterns.labelKey };

/** Up to 50 short pairs that lists select by. */
const labels = {
  type: 'object',
  description: 'Up to 50 short pairs to select by: `label[team]=support` in a list. Notes of your own are `metadata`.',
  maxProperties: 50,
  propertyNames: labelKey,
  additionalProperties: label,
  examples: [{ team: 'support', 'example.com/env': 'prod' }],
};
export const Labels = Type.Unsafe<Record<string, string>>(labels);

/** A key of a label, in a query. */
export const LabelKey = Type.Unsafe<string>({ ...labelKey, examples: ['team'] });

/** Changes of labels: null removes a pair, or all. */
export const LabelsChange = Type.Unsafe<Record<string, string | null> | null>({
  ...labels,
  type: ['object', 'null'],
  additionalProperties: { ...label, type: ['string', 'null'] },
  description: 'Pairs to set or, with null, to remove; others stay. Null removes all.',
});

/** A page of a list. */
export const listOf = <Item extends TSchema>(item: Item, title: string) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item),
      has_more: Type.Boolean(),
      next_cursor: nullable(
        Type.String({ pattern: patterns.cursor, description: 'Give it as `cursor` for the next page.' }),
      ),
    },
    { title, additionalProperties: false },
  );

/** A list without pages. */
export const wholeList = <Item extends TSchema>(item: Item, title: string) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item),
      has_more: Type.Literal(false),
      next_cursor: Type.Null(),
    },
    { title, additionalProperties: false },
  );

/** A list's `cursor`; `more` names further values that a page keeps. */
export const pageCursor = (more = '', maxLength = 512) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength,
      pattern: patterns.cursor,
      description: `\`next_cursor\` of the page before${more}.`,
    }),
  );
