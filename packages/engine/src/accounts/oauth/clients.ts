import { Refusal, grantBounds, isRedirectUri, isSameRedirect, networkOf, shownName } from '@lodge/domain';
import { findClient, insertClient, lockClients } from '@lodge/store/accounts';
import type { AccountDeps } from '../deps.ts';
import { isDocumentUrl } from './kept-documents.ts';
import type { OAuthClient } from './kept-documents.ts';

const nameless = 'A program without a name';

/** Registers a public client (RFC 7591). Without a name it is shown as one that has none. */
export async function registerClient(
  { crypto, database }: AccountDeps,
  input: { readonly name: string | null; readonly redirectUris: readonly string[] },
  address: string,
): Promise<OAuthClient> {
  const wrong = input.redirectUris.findIndex((uri) => !isRedirectUri(uri));
  if (wrong !== -1) {
    throw new Refusal(
      'invalid_redirect_uri',
      `redirect_uris[${wrong}] must be https, http to the loopback, or a scheme made from a domain's name, without a fragment.`,
    );
  }
  if (input.redirectUris.length === 0 || input.redirectUris.length > grantBounds.maxRedirectUris) {
    throw new Refusal('invalid_redirect_uri', `redirect_uris must have 1 to ${grantBounds.maxRedirectUris} elements.`);
  }
  const name = shownName(input.name ?? '') ?? nameless;
  const network = networkOf(address);
  const client = { id: crypto.tokens.make(), name, redirectUris: [...input.redirectUris], network };
  const isMade = await database.transaction(async (trx) => {
    // Counted under a lock, so that clients which register at once do not pass the bounds.
    const { all, ofNetwork } = await lockClients(trx, network);
    if (ofNetwork >= grantBounds.maxClientsOfNetwork || all >= grantBounds.maxClients) return false;
    await insertClient(trx, client);
    return true;
  });
  if (isMade) return client;
  throw new Refusal('rate_limit_exceeded', 'Too many programs have registered. Try again tomorrow.', {
    retryAfterSeconds: 3_600,
  });
}

/** Finds the client of a request and checks where it wants its answer. Nothing may be sent anywhere before. */
export async function clientOf(
  deps: AccountDeps,
  { clientId, redirectUri }: { readonly clientId: string; readonly redirectUri: string },
): Promise<OAuthClient> {
  const client = isDocumentUrl(clientId)
    ? await deps.clientDocuments?.client(clientId)
    : deps.crypto.tokens.isWellFormed(clientId)
      ? await deps.database.repeatable((db) => findClient(db, clientId))
      : null;
  if (!client) {
    throw new Refusal('invalid_client', 'client_id is no program that is known here. Connect it anew.');
  }
  if (!client.redirectUris.some((uri) => isSameRedirect(uri, redirectUri))) {
    throw new Refusal('invalid_redirect_uri', 'redirect_uri is none that the program registered.');
  }
  return client;
}
