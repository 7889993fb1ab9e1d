import type { DataKeyRow, DataKeyStore, SealedValue, SealedValueStore } from '@lodge/ports';
import { sql } from 'kysely';
import type { Database } from '../database/connection.ts';
import type { SealedPlace } from '../database/stored-resource.ts';
import { storedResources } from '../resources.ts';

/** Every column with sealed secrets. */
export const sealedPlaces: readonly SealedPlace[] = storedResources.flatMap(
  ({ sealed }): readonly SealedPlace[] => sealed,
);

const nameOf = ({ table, column }: SealedPlace): string => `${table}.${column}`;

/** Data keys and all sealed values, in Postgres. */
export class PostgresSecretStore implements DataKeyStore, SealedValueStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async all(): Promise<readonly DataKeyRow[]> {
    const rows = await this.database.repeatable((db) =>
      db.selectFrom('data_keys').select(['id', 'wrapped', 'master_key_id']).execute(),
    );
    return rows.map(({ id, wrapped, master_key_id: masterKeyId }) => ({ id, wrapped, masterKeyId }));
  }

  async insert({ id, wrapped, masterKeyId }: DataKeyRow): Promise<void> {
    await this.database.repeatable((db) =>
      db
        .insertInto('data_keys')
        .values({ id, wrapped, master_key_id: masterKeyId })
        .onConflict((conflict) => conflict.column('master_key_id').doNothing())
        .execute(),
    );
  }

  async keepOnly(id: string): Promise<void> {
    await this.database.repeatable((db) => db.deleteFrom('data_keys').where('id', '<>', id).execute());
  }

  async notUnder(prefix: string, limit: number): Promise<readonly SealedValue[]> {
    const found: SealedValue[] = [];
    for (const place of sealedPlaces) {
      if (found.length >= limit) break;
      found.push(...(await this.notUnderIn(place, prefix, limit - found.length)));
    }
    return found;
  }

  private async notUnderIn(place: SealedPlace, prefix: string, limit: number): Promise<SealedValue[]> {
    const { rows } = await this.database.repeatable((db) =>
      sql<{ id: string[]; sealed: string }>`
        select array[${sql.join(place.key.map((name) => sql.ref(name)))}]::text[] as id, ${sql.ref(place.column)} as sealed
        from ${sql.table(place.table)}
        where not starts_with(${sql.ref(place.column)}, ${prefix}) order by ${sql.join(place.key.map((name) => sql.ref(name)))}
        limit ${limit}
      `.execute(db),
    );
    return rows.map(({ id, sealed }) => ({
      place: nameOf(place),
      id,
      sealed,
      context: place.context(id[0]!, id[1] ?? '', id[2] ?? '', id[3] ?? ''),
    }));
  }

  async replace(value: SealedValue, sealed: string): Promise<void> {
    const place = sealedPlaces.find((each) => nameOf(each) === value.place)!;
    const isIt = place.key.map((name, index) => sql`${sql.ref(name)} = ${value.id[index]!}`);
    await this.database.repeatable((db) =>
      sql`
        update ${sql.table(place.table)} set ${sql.ref(place.column)} = ${sealed}
        where ${sql.join(isIt, sql` and `)} and ${sql.ref(place.column)} = ${value.sealed}
      `.execute(db),
    );
  }

  async connectedServers(): Promise<number> {
    const { rows } = await this.database.repeatable((db) =>
      sql<{ servers: number }>`
        select count(*)::int as servers from pg_stat_activity
        where datname = current_database() and application_name = 'lodge'
          and application_name <> current_setting('application_name')
      `.execute(db),
    );
    return rows[0]!.servers;
  }
}
