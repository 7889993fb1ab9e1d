import type { DataKeyStore, SealedValue, SealedValueStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database, Queries } from '../database/database.ts';
import type { SealedPlace } from '../database/stored-resource.ts';
import { storedResources } from '../resources.ts';

/** Every column with sealed secrets. */
export const sealedPlaces: readonly SealedPlace[] = storedResources.flatMap(
  ({ sealed }): readonly SealedPlace[] => sealed,
);

const nameOf = ({ table, column }: SealedPlace): string => `${table}.${column}`;

/** Data keys and all sealed values, as the secret box and the change of the master key ask for them. */
export const secretsIn = (database: Database): DataKeyStore & SealedValueStore => ({
  all: () => database.repeatable((db) => db.selectFrom('dataKeys').select(['id', 'wrapped', 'masterKeyId']).execute()),

  async insert({ id, wrapped, masterKeyId }) {
    await database.repeatable((db) =>
      db
        .insertInto('dataKeys')
        .values({ id, wrapped, masterKeyId })
        .onConflict((conflict) => conflict.column('masterKeyId').doNothing())
        .execute(),
    );
  },

  async keepOnly(id) {
    await database.repeatable((db) => db.deleteFrom('dataKeys').where('id', '<>', id).execute());
  },

  async notUnder(prefix, limit) {
    const found: SealedValue[] = [];
    for (const place of sealedPlaces) {
      if (found.length >= limit) break;
      found.push(...(await database.repeatable((db) => notUnderIn(db, place, prefix, limit - found.length))));
    }
    return found;
  },

  async replace(value, sealed) {
    const place = sealedPlaces.find((each) => nameOf(each) === value.place)!;
    const isIt = place.key.map((name, index) => sql`${sql.id(name)} = ${value.id[index]!}`);
    await database.repeatable((db) =>
      sql`
        update ${sql.id(place.table)} set ${sql.id(place.column)} = ${sealed}
        where ${sql.join(isIt, sql` and `)} and ${sql.id(place.column)} = ${value.sealed}
      `.execute(db),
    );
  },

  connectedServers: () => database.repeatable(connectedServers),
});

async function notUnderIn(db: Queries, place: SealedPlace, prefix: string, limit: number): Promise<SealedValue[]> {
  const key = sql.join(place.key.map((name) => sql.id(name)));
  const { rows } = await sql<{ readonly id: readonly string[]; readonly sealed: string }>`
    select array[${key}]::text[] as id, ${sql.id(place.column)} as sealed from ${sql.id(place.table)}
    where not starts_with(${sql.id(place.column)}, ${prefix}) order by ${key} limit ${limit}
  `.execute(db);
  return rows.map(({ id, sealed }) => ({
    place: nameOf(place),
    id,
    sealed,
    context: place.context(id[0]!, id[1] ?? '', id[2] ?? '', id[3] ?? ''),
  }));
}

async function connectedServers(db: Queries): Promise<number> {
  const { rows } = await sql<{ readonly servers: number }>`
    select count(*)::int as servers from pg_stat_activity
    where datname = current_database() and application_name = 'lodge'
      and application_name <> current_setting('application_name')
  `.execute(db);
  return rows[0]!.servers;
}
