/**
 * Clients that are known by a document of their own, whose https address is their id (OAuth Client ID Metadata Documents).
 * Nobody stores them: a document is fetched when a person is asked, and kept for some minutes.
 */
import { grantBounds, isRedirectUri, maxRedirectUriChars, shownName } from '@lodge/domain';
import type { ClientDocuments } from '@lodge/ports';

/** A program that may ask for access. */
export interface OAuthClient {
  readonly id: string;
  /** As it calls itself: one line of visible characters. */
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const keptMs = 300_000;
const maxKept = 200;

/** An https address with a path, without anything that hides who is meant. */
export function isDocumentUrl(id: string): boolean {
  if (!id.startsWith('https://') || id.length > maxRedirectUriChars || !URL.canParse(id)) return false;
  const { href, hash, pathname, username, password, search } = new URL(id);
  return href === id && hash === '' && search === '' && pathname !== '/' && username === '' && password === '';
}

/** Reads clients' documents, each at most once within some minutes. */
export class KeptDocuments {
  private readonly documents: ClientDocuments;
  private readonly kept = new Map<string, { readonly until: number; readonly client: Promise<OAuthClient | null> }>();

  constructor(documents: ClientDocuments) {
    this.documents = documents;
  }

  client(id: string): Promise<OAuthClient | null> {
    const now = performance.now();
    const before = this.kept.get(id);
    if (before !== undefined && before.until > now) return before.client;
    const client = this.documents.read(id).then((document) => readDocument(id, document));
    this.kept.delete(id);
    this.kept.set(id, { until: now + keptMs, client });
    if (this.kept.size > maxKept) this.kept.delete(this.kept.keys().next().value!);
    // A document that cannot be had now may be there soon.
    client.then(
      (found) => found ?? this.kept.delete(id),
      () => this.kept.delete(id),
    );
    return client;
  }
}

/** The client that a document describes; null when it is no document of a public client with this id. */
function readDocument(id: string, document: unknown): OAuthClient | null {
  if (typeof document !== 'object' || document === null) return null;
  const given = document as Readonly<Record<string, unknown>>;
  const { client_id: own, client_name: name, redirect_uris: uris, token_endpoint_auth_method: method } = given;
  if (own !== id || !Array.isArray(uris) || (method !== undefined && method !== 'none')) return null;
  const redirectUris = uris.filter((uri): uri is string => typeof uri === 'string' && isRedirectUri(uri));
  if (redirectUris.length === 0 || uris.length > grantBounds.maxRedirectUris) return null;
  return { id, name: shownName(typeof name === 'string' ? name : '') ?? new URL(id).host, redirectUris };
}
