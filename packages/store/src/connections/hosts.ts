/** Secrets of host connections, what machines have of these, and the authority for their hosts. */
import type { HostAccess } from '@lodge/domain';
import type { Authority, ConnectionRef } from '@lodge/ports';
import type { Insertable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { ConnectionSecrets } from '../database/tables.ts';

export async function replaceSecrets(
  trx: Transaction,
  { agentId, connection }: Pick<ConnectionRef, 'agentId' | 'connection'>,
  secrets: readonly Omit<Insertable<ConnectionSecrets>, 'agentId' | 'connection' | 'createdAt'>[],
): Promise<void> {
  await trx
    .deleteFrom('connectionSecrets')
    .where('agentId', '=', agentId)
    .where('connection', '=', connection)
    .execute();
  if (secrets.length === 0) return;
  await trx
    .insertInto('connectionSecrets')
    .values(
      secrets.map(({ name, sealed, last4, headers, placeholder }) => {
        return { agentId, connection, name, sealed, last4, headers, placeholder };
      }),
    )
    .execute();
}

export async function writeHostAccess(trx: Transaction, agentId: string, access: HostAccess | null): Promise<void> {
  await trx
    .updateTable('agents')
    .set({ hostAccess: access && JSON.stringify(access) })
    .where('id', '=', agentId)
    .execute();
}

/** The sealed authority of this name. */
export const findAuthority = (
  db: Queries,
  name: string,
): Promise<(Pick<Authority, 'certificate'> & { readonly sealed: string }) | undefined> =>
  db.selectFrom('authorities').select(['certificate', 'sealed']).where('name', '=', name).executeTakeFirst();

/** Keeps an authority, unless there is one. */
export async function keepAuthority(
  db: Queries,
  authority: { readonly name: string; readonly certificate: string; readonly sealed: string },
): Promise<void> {
  const { name, certificate, sealed } = authority;
  await db
    .insertInto('authorities')
    .values({ name, certificate, sealed })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}
