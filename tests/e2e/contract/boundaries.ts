/** Values made from a JSON Schema: a plain good one, and others at and beyond each of its bounds. */
import { patterns } from '@lodge/contract';
import { resolve } from './document.ts';
import type { Schema } from './document.ts';

/** A value with one place changed. `at` is where: names of fields and indices. */
export interface Case {
  readonly value: unknown;
  readonly at: readonly string[];
}

/** Values of one field in the cases of a rule between fields. */
const maxChoices = 5;
const absent = Symbol('absent');

export class Boundaries {
  private readonly document: Schema;

  constructor(document: Schema) {
    this.document = document;
  }

  /** The plainest value of the schema: required fields alone, a given example, else the shortest text and the least number. */
  plain(given: Schema): unknown {
    const schema = resolve(this.document, given);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[0];
    const branch = (schema.anyOf ?? schema.oneOf)?.[0];
    if (branch) return this.plain(branch);
    const type = [schema.type].flat()[0];
    if (type === 'object') return this.plainObject(schema);
    if (type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => this.plain(schema.items ?? {}));
    if (schema.examples ?? schema.example) return schema.example ?? schema.examples[0];
    if (schema.format === 'date-time') return '2031-01-31T12:00:00Z';
    if (type === 'string') return 'x'.repeat(Math.max(1, schema.minLength ?? 0));
    if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
    return type === 'boolean' ? false : null;
  }

  examples(given: Schema): readonly unknown[] {
    return resolve(this.document, given).examples ?? [];
  }

  private plainObject(schema: Schema): Record<string, unknown> {
    const names: string[] = [
      ...(schema.required ?? []),
      ...(schema.allOf ?? []).flatMap(
        (rule: Schema) => rule.required ?? (rule.oneOf ?? rule.anyOf)?.[0].required ?? [],
      ),
    ];
    const value: Record<string, unknown> = {};
    if (names.length === 0) names.push(...Object.keys(schema.properties ?? {}).slice(0, schema.minProperties ?? 0));
    for (const name of names) value[name] = this.plain(schema.properties[name]);
    for (const name of neededBy(schema.allOf ?? [], value)) value[name] ??= this.plain(schema.properties[name]);
    return value;
  }

  /** A good value of the schema, changed at one place after another. */
  *cases(given: Schema, good: unknown = this.plain(given), at: readonly string[] = []): Generator<Case> {
    const schema = resolve(this.document, given);
    const here = (value: unknown): Case => ({ value, at });
    for (const value of othersOf(schema)) yield here(value);
    for (const value of this.edges(schema)) yield here(value);
    for (const branch of schema.anyOf ?? schema.oneOf ?? []) yield* this.cases(branch, this.plain(branch), at);
    if (Array.isArray(good) && schema.items) yield* this.itemCases(schema, at);
    if (isObject(good)) yield* this.fieldCases(schema, good, at);
  }

  private edges(schema: Schema): unknown[] {
    if (schema.enum) return [...schema.enum, String(schema.enum[0]).toUpperCase()];
    const { minLength = 0, maxLength, minimum, maximum } = schema;
    const types = [schema.type].flat();
    const values: unknown[] = [];
    if (types.includes('string')) {
      const good = String(this.plain({ ...schema, type: 'string' }));
      values.push('', ' ', good, `${good}\0`, `${good}\ud800`);
      if (schema.pattern !== patterns.text)
        values.push(good.toUpperCase(), `${good} ${good}`, 'é', '../x', '0', 'nobody');
      if (minLength > 0) values.push('x'.repeat(minLength - 1), 'x'.repeat(minLength));
      if (maxLength !== undefined) values.push('x'.repeat(maxLength), 'x'.repeat(maxLength + 1));
      if (schema.format) values.push('2031-02-30T12:00:00Z', '2031-01-31', '2031-01-31t12:00:00.5+01:00');
    }
    if (types.includes('integer') || types.includes('number')) {
      values.push(1.5, '1', -1);
      for (const bound of [minimum, maximum]) if (bound !== undefined) values.push(bound - 1, bound, bound + 1);
    }
    return values;
  }

  private *itemCases({ items, minItems = 0, maxItems }: Schema, at: readonly string[]): Generator<Case> {
    const item = this.plain(items);
    const lengths = new Set([minItems - 1, minItems, minItems + 1, maxItems, maxItems + 1]);
    for (const length of lengths) {
      if (length >= 0) yield { value: Array.from({ length }, () => item), at };
    }
    for (const one of this.cases(items, item, [...at, '0'])) yield { ...one, value: [one.value] };
  }

  private *fieldCases(schema: Schema, good: Record<string, unknown>, at: readonly string[]): Generator<Case> {
    for (const name of ['nmae', 'constructor', 'toString']) yield { value: { ...good, [name]: 1 }, at: [...at, name] };
    for (const name of Object.keys(good)) {
      const { [name]: _left, ...rest } = good;
      const isEmpty = Object.keys(rest).length < (schema.minProperties ?? 0);
      yield { value: rest, at: isEmpty ? at : [...at, name] };
    }
    for (const [name, field] of Object.entries<Schema>(schema.properties ?? {})) {
      for (const one of this.cases(field, good[name] ?? this.plain(field), [...at, name]))
        yield { ...one, value: { ...good, [name]: one.value } };
    }
    yield* this.ruleCases(schema, good, at);
    const { additionalProperties: pairs, propertyNames = {}, maxProperties } = schema;
    if (!isObject(pairs)) return;
    const value = this.plain(pairs);
    const names = [...this.edges({ type: 'string', ...propertyNames })].map(String);
    for (const name of names) yield { value: { [name]: value }, at };
    for (const one of this.cases(pairs, value, [...at, 'k'])) yield { ...one, value: { k: one.value } };
    for (const count of [maxProperties, maxProperties + 1]) {
      if (!count) continue;
      yield { value: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value])), at };
    }
  }

  /** Every combination of the fields that a rule between fields names. */
  private *ruleCases(schema: Schema, good: Record<string, unknown>, at: readonly string[]): Generator<Case> {
    for (const rule of schema.allOf ?? []) {
      const names = Object.keys(schema.properties ?? {}).filter((name) => JSON.stringify(rule).includes(`"${name}"`));
      let combined: Record<string, unknown>[] = [good];
      for (const name of names) {
        const choices = this.choices(schema.properties[name], good[name]);
        combined = combined.flatMap((value) => choices.map((choice) => ({ ...value, [name]: choice })));
      }
      for (const value of combined) {
        yield { value: Object.fromEntries(Object.entries(value).filter(([, field]) => field !== absent)), at };
      }
    }
  }

  private choices(given: Schema, good: unknown): unknown[] {
    const schema = resolve(this.document, given);
    const values: readonly unknown[] = schema.enum ?? [good ?? this.plain(schema)];
    const isNullable = [schema.type].flat().includes('null');
    const items = schema.items && (schema.minItems ?? 0) === 0 ? [[this.plain(schema.items)]] : [];
    return [absent, ...values.slice(0, maxChoices), ...items, ...(isNullable ? [null] : [])];
  }
}

/** Fields that rules require where others have these values. */
const neededBy = (rules: readonly Schema[], value: Readonly<Record<string, unknown>>): string[] =>
  rules.flatMap((rule) => {
    const only = Object.entries<Schema>(rule.if?.not?.properties ?? {});
    const applies = only.length > 0 && only.every(([name, { const: wanted }]) => value[name] === wanted);
    return applies ? (rule.else?.required ?? []) : [];
  });

/** Values that are easily taken for one of the schema's type. */
function othersOf({ type }: Schema): unknown[] {
  const types = [type].flat();
  if (types.includes('object')) return [null, [], 'nobody'];
  if (types.includes('array')) return [null, {}, 'nobody'];
  if (types.includes('boolean')) return [null, true, false, 'true', 0];
  return types.includes('string') ? [null, 5, []] : [null, true, []];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
