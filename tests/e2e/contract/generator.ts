/** Requests made from the OpenAPI document: mostly right ones, each wrong somewhere now and then. One seed, one sequence. */
import { resolve } from './document.ts';
import type { Schema } from './document.ts';

/** Mulberry32: small, and the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const oddities: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '💥',
  "' or 1=1 --",
  '../../etc/passwd',
  '%00',
  '\r\nX-Evil: 1',
  '{"$gt":""}',
  'x'.repeat(3000),
  [],
  [[]],
  {},
  { constructor: { prototype: { polluted: true } } },
  { toString: 'x' },
];

export class Generator {
  private readonly random: () => number;
  private readonly document: Schema;

  constructor(document: Schema, seed: number) {
    this.document = document;
    this.random = randomOf(seed);
  }

  below(most: number): number {
    return Math.floor(this.random() * most);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  odd(): unknown {
    return this.pick(oddities);
  }

  /** A value of the schema, at each place with a small chance of something else. */
  value(given: Schema, wrong = 0.03): unknown {
    const schema = resolve(this.document, given ?? {});
    if (this.chance(wrong)) return this.odd();
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return this.pick(schema.enum);
    if (schema.examples && this.chance(0.3)) return this.pick(schema.examples);
    if (schema.anyOf ?? schema.oneOf) return this.value(this.pick(schema.anyOf ?? schema.oneOf), wrong);
    const type: unknown = Array.isArray(schema.type) ? this.pick(schema.type) : schema.type;
    switch (type) {
      case 'string':
        return this.text(schema);
      case 'integer':
        return this.edge(schema.minimum ?? -5, schema.maximum ?? 1000);
      case 'number':
        return this.random() * 10 - 2;
      case 'boolean':
        return this.chance(0.5);
      case 'null':
        return null;
      case 'array':
        return Array.from({ length: this.below(Math.min(schema.maxItems ?? 3, 3) + 1) }, () =>
          this.value(schema.items ?? {}, wrong),
        );
      case 'object':
        return this.object(schema, wrong);
      default:
        return this.odd();
    }
  }

  private object(schema: Schema, wrong: number): unknown {
    const object: Record<string, unknown> = {};
    for (const [name, property] of Object.entries<Schema>(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(name);
      if (isRequired ? this.chance(0.97) : this.chance(0.35)) object[name] = this.value(property, wrong);
    }
    if (typeof schema.additionalProperties === 'object') {
      for (let i = this.below(3); i > 0; i -= 1) object[`k${i}`] = this.value(schema.additionalProperties, wrong);
    }
    if (this.chance(wrong)) object[this.pick(['nmae', '__proto__x', 'constructor', '', '\u0000'])] = this.odd();
    return object;
  }

  private text(schema: Schema): string {
    if (schema.format === 'date-time') return new Date(this.below(2 ** 31) * 1000).toISOString();
    if (schema.pattern === '^[a-z][a-z0-9]{11}$') return this.letters(12);
    return this.letters(this.edge(schema.minLength ?? 0, Math.min(schema.maxLength ?? 40, 40)));
  }

  private letters(length: number): string {
    return Array.from({ length: Math.max(0, length) }, () => String.fromCharCode(97 + this.below(26))).join('');
  }

  private edge(least: number, most: number): number {
    if (this.chance(0.1)) return this.pick([least - 1, most + 1]);
    if (this.chance(0.3)) return this.pick([least, most]);
    return least + this.below(most - least + 1);
  }
}
