import { linkLifetimes, linkPath } from '@lodge/ports';
import type { AccountStore } from '@lodge/ports';
import { readPending, removePending, writePending } from './one-time-file.ts';
import { cryptography } from '@lodge/access';

export interface OwnerLink {
  /** The whole URL, below `origin`. */
  url(origin: string): string;
  /** To be called once it was shown: from then on the token exists nowhere but with who read it. */
  shown(): Promise<void>;
}

const { tokens } = cryptography;

/**
 * On a deployment that nobody can sign in to: the link that makes its first account somebody's. Null ever after, and for
 * every process but one when several start at once; a further one is the operator's to ask for (`createOwnerLink`).
 *
 * `file` keeps the token from before it takes effect until `shown`, as `ensureFirstKey` does for the key.
 */
export async function ensureOwnerLink(
  store: Pick<AccountStore, 'createFirstOwnerLink' | 'link'>,
  file: string,
): Promise<OwnerLink | null> {
  const pending = await readPending(file, (text) => tokens.isWellFormed(text));
  const token = pending ?? tokens.make();
  if (pending === null) await writePending(file, token);
  const hash = tokens.hash(token);
  const made = await store.createFirstOwnerLink({ hash, lifetimeSeconds: linkLifetimes.owner });
  const shown = (): Promise<void> => removePending(file);
  if (made || (pending !== null && (await store.link(hash)))) {
    return { url: (origin) => origin + linkPath('owner', token), shown };
  }
  await shown();
  return null;
}
