import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { camelCase } from './camel-case.ts';
import type { DB } from './tables.ts';

/** A row from JSON, without dates. */
export type InJson<Row> = { readonly [Column in keyof Row]: DatesAsText<Row[Column]> };
type DatesAsText<Value> = Value extends Date ? string : Value extends readonly Date[] ? readonly string[] : Value;

/** A query that is written once and prepared once per connection, by its name. Its rows are JSON. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Used only for its type. */
  readonly row?: Row;
}

/** Writes queries and runs none. */
const writer = new Kysely<DB>({
  plugins: [camelCase],
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/**
 * Makes a statement whose rows come as one value each. pg builds an object of a statement's columns anew at each run, which
 * costs more than parsing JSON when there are many columns (benchmarks/results/2026-11-22-api.md). `write` names every
 * column, because a prepared `*` fails once another release's migration has added one. Its values are placeholders, in the
 * order of the values at each run.
 */
export function statement<Row>(
  name: string,
  write: (db: Kysely<DB>) => { compile(): CompiledQuery<Row> },
): Statement<Row> {
  return { name, text: `select to_json(found) as row from (${write(writer).compile().sql}) found` };
}
