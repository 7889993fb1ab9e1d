import { Refusal, grantBounds, isRedirectUri, isSameRedirect, shownName } from '@lodge/domain';
import type { OAuthClient } from '@lodge/ports';
import type { AccountDeps } from '../deps.ts';
import { isDocumentUrl } from './kept-documents.ts';

const nameless = 'A program without a name';

export async function registerClient(
  { crypto, store }: AccountDeps,
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
  const client = { id: crypto.tokens.make(), name, redirectUris: [...input.redirectUris] };
  if (await store.oauth.registerClient(client, address)) return client;
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
    ? ((await deps.clientDocuments?.client(clientId)) ?? null)
    : deps.crypto.tokens.isWellFormed(clientId)
      ? await deps.store.oauth.client(clientId)
      : null;
  if (client === null) {
    throw new Refusal('invalid_client', 'client_id is no program that is known here. Connect it anew.');
  }
  if (!client.redirectUris.some((uri) => isSameRedirect(uri, redirectUri))) {
    throw new Refusal('invalid_redirect_uri', 'redirect_uri is none that the program registered.');
  }
  return client;
}
