/** Addresses that an authorization server of ours leads a browser back to. */

export const maxRedirectUriChars = 2_048;

/** Hosts of the person's own machine, where a program listens on a port of the moment (RFC 8252, section 7.3). */
const loopbacks: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Schemes without a dot of programs that are known to take an answer. RFC 8252 (section 7.1) asks for the name of a domain,
 * which no scheme has that browsers or systems obey themselves.
 */
const knownSchemes: ReadonlySet<string> = new Set([
  'claude',
  'cursor',
  'goose',
  'kiro',
  'raycast',
  'vscode',
  'vscode-insiders',
  'warp',
  'windsurf',
  'zed',
]);

/** A scheme made from a domain's name, such as `com.example.app`. */
const ofDomain = /^[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+$/;

/** Whether a client may register this address: https, http to the loopback, or a scheme of a program's own. */
export function isRedirectUri(text: string): boolean {
  if (text.length > maxRedirectUriChars || !/^[\u0021-\u007e]+$/.test(text)) return false;
  // `URL` drops an empty fragment, and reads a backslash as a slash.
  if (text.includes('#') || text.includes('\\') || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return hostname !== '';
  if (protocol === 'http:') return loopbacks.has(hostname);
  const scheme = protocol.slice(0, -1);
  return knownSchemes.has(scheme) || ofDomain.test(scheme);
}

/** Whether an address is the registered one. On the loopback any port is (RFC 8252, section 7.3). */
export function isSameRedirect(registered: string, given: string): boolean {
  if (registered === given) return isRedirectUri(given);
  if (!isRedirectUri(registered) || !isRedirectUri(given)) return false;
  return isLoopback(registered) && isLoopback(given) && withoutPort(registered) === withoutPort(given);
}

const isLoopback = (uri: string): boolean => new URL(uri).protocol === 'http:';

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = '';
  return url.href;
}

/** Whom an address leads to, as a person reads it: its host, or the scheme of a program on their machine. */
export function redirectHost(uri: string): string {
  const { protocol, host } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol.slice(0, -1);
}

/** The address with further parameters; those that it has stay. */
export function redirectWith(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(given).toString()}`;
}
