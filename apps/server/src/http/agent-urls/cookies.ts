/** Cookies at an agent's address: Lodge's own stay here, the guest's pass, each for its host alone. */
import type { AgentUrlSettings } from '../context.ts';

/** Like the account area's: over https a name that browsers accept from no other host. */
const nameOf = ({ scheme }: AgentUrlSettings): string => (scheme === 'https' ? '__Host-lodge_visit' : 'lodge_visit');

/** Names of Lodge's cookies, for any host and scheme. */
const ours = /^\s*(?:__(?:host|secure)-)?lodge_/i;

/** A page of another host of the domain may have set a false one: a few are tried, and one valid one is enough. */
const maxTried = 4;

const nameIn = (pair: string): string => pair.split('=', 1)[0]!.trim();

const isHosts = (pair: string, added: string): boolean =>
  ours.test(pair) || added.split(';').some((own) => nameIn(own) !== '' && nameIn(own) === nameIn(pair));

export function visitTokens(header: string | undefined, url: AgentUrlSettings): string[] {
  const name = nameOf(url);
  const values = (header ?? '').split(';').flatMap((pair) => {
    const [key = '', value = ''] = pair.split('=', 2);
    return key.trim() === name ? [value.trim()] : [];
  });
  return values.slice(0, maxTried);
}

export function visitCookie(token: string, maxAgeSeconds: number, url: AgentUrlSettings): string {
  const secure = url.scheme === 'https' ? '; Secure' : '';
  return `${nameOf(url)}=${token}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

/** The Cookie header for the guest: the host's own additions, and those of the client's cookies with other names. */
export function cookiesForGuest(header: string | undefined, added = ''): string | undefined {
  const kept = (header ?? '').split(';').filter((pair) => !isHosts(pair, added));
  const all = [...kept, added].map((part) => part.trim()).filter((part) => part !== '');
  return all.length > 0 ? all.join('; ') : undefined;
}

/** The guest's Set-Cookie headers for a browser: never one with a name of the host's, and only for this host. */
export function cookiesForClient(headers: readonly string[], added = ''): string[] {
  return headers
    .filter((header) => !isHosts(header, added))
    .map((header) =>
      header
        .split(';')
        .filter((part, i) => i === 0 || !/^\s*domain\s*(?:=|$)/i.test(part))
        .join(';'),
    );
}
