import type { AuthorizationQuestion } from './api.ts';

const home = '/';
export const signInPath = '/account/sign-in';

/** Returns the page to show after signing in: one of ours, by its path, and never another place. */
export function safePath(path: unknown): string {
  return typeof path === 'string' && /^\/(?![/\\])/.test(path) ? path : home;
}

/** Splits a path of ours into what the router takes. */
export function destinationOf(path: string): { readonly to: string; readonly search: Record<string, string> } {
  const [to = home, query = ''] = path.split('?', 2);
  return { to, search: parseSearch(query) };
}

/**
 * Reads a query as plain text. The router's own way reads numbers and JSON out of it, and would write a program's `state` of
 * `1e5` as another.
 */
export const parseSearch = (query: string): Record<string, string> => Object.fromEntries(new URLSearchParams(query));

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(search).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** Returns the search of the sign-in page that leads back to this path. */
export function signedOutPath(path: string): { to?: string } {
  return path === home ? {} : { to: path };
}

/** The parameters of an OAuth authorization request. The server says what is wrong with them; others are ignored. */
export function authorizationOf(search: Readonly<Record<string, unknown>>): AuthorizationQuestion {
  const given = (name: string): string => (typeof search[name] === 'string' ? search[name] : '');
  const optional = (name: 'scope' | 'state' | 'resource') => (name in search ? { [name]: given(name) } : {});
  return {
    client_id: given('client_id'),
    redirect_uri: given('redirect_uri'),
    response_type: given('response_type'),
    code_challenge: given('code_challenge'),
    code_challenge_method: given('code_challenge_method'),
    ...optional('scope'),
    ...optional('state'),
    ...optional('resource'),
  };
}

/** The path of a page, with the agent's id in its place. */
export const pathTo = (pattern: string, agentId?: string): string =>
  agentId === undefined ? pattern : pattern.replace('$agentId', encodeURIComponent(agentId));
