/** The authority of this Lodge for the hosts of connections: drawn once, when the first agent needs it. */
import { authorityContext } from '@lodge/ports';
import type { Authority, AuthorityMaker, SecretBox } from '@lodge/ports';
import { findAuthority, keepAuthority } from '@lodge/store/connections';
import type { Database } from '@lodge/store/database';

const name = 'hosts';

interface Deps {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly maker: AuthorityMaker;
}

/** Returns the authority. Two processes that draw one at once go on with the one that was kept first. */
export type FindAuthority = () => Promise<Authority>;

export function createFindAuthority({ database, secrets, maker }: Deps): FindAuthority {
  let known: Promise<Authority> | null = null;
  const stored = async (): Promise<Authority | null> => {
    const row = await database.repeatable((db) => findAuthority(db, name));
    return row ? { certificate: row.certificate, key: secrets.open(row.sealed, authorityContext(name)) } : null;
  };
  const find = async (): Promise<Authority> => {
    const there = await stored();
    if (there !== null) return there;
    const { certificate, key } = await maker.make();
    const sealed = secrets.seal(key, authorityContext(name));
    await database.repeatable((db) => keepAuthority(db, { name, certificate, sealed }));
    return (await stored())!;
  };
  return () =>
    (known ??= find().catch((error: unknown) => {
      known = null;
      throw error;
    }));
}
