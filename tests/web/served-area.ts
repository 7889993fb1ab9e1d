/** The account area as the product serves it, with the pages built from this tree, on a host of fake machines. */
import { cryptography } from '@lodge/access';
import { createResetLink } from '@lodge/engine';
import { linkPath } from '@lodge/domain';
import { openLodge } from '@lodge/testkit/lodge';

export interface Place {
  /** Origin of the service. */
  readonly url: string;
  readonly ownerLink: string;
  resetLink(email: string): Promise<string>;
  close(): Promise<void>;
}

export async function serveArea(): Promise<Place> {
  const lodge = await openLodge({ settings: { LODGE_REGISTRATION: 'open' } });
  const url = new URL(lodge.baseUrl).origin;
  const { database } = lodge.parts.store;
  return {
    url,
    ownerLink: lodge.ownerLink!.url(url),
    resetLink: async (email) =>
      url + linkPath('reset', await createResetLink(database, cryptography.tokens, email, { removesTotp: false })),
    close: () => lodge.close(),
  };
}
