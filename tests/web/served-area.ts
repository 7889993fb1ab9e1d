/**
 * The account area as it is served, without a machine behind it: the real routes over a real database, the real keys, and
 * the pages built from this tree. Agents alone are kept in memory.
 */
import { cryptography } from '@lodge/access';
import { createOwnerLink, createResetLink } from '@lodge/engine';
import { linkPath } from '@lodge/ports';
import { testApp } from '../../packages/testkit/src/plane/http/test-app.ts';
import { openAccounts } from '../../packages/testkit/src/plane/wired-accounts.ts';

export interface Place {
  /** Origin of the service. */
  readonly url: string;
  readonly ownerLink: string;
  resetLink(email: string): Promise<string>;
  close(): Promise<void>;
}

export async function serveArea(pages: string): Promise<Place> {
  const opened = await openAccounts({ registrationOpen: true });
  const { store, accounts, verifier } = opened;
  let url = '';
  const { app } = testApp({ verifier, accounts, account: { accounts, spend: store.spend, origin: () => url, pages } });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    ownerLink: url + linkPath('owner', await createOwnerLink(store.accounts, cryptography.tokens)),
    resetLink: async (email) =>
      url +
      linkPath('reset', await createResetLink(store.accounts, cryptography.tokens, email, { removesTotp: false })),
    async close() {
      await app.close();
      await opened.close();
    },
  };
}
