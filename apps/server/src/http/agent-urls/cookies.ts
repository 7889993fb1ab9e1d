/** Cookies at an agent's address: ours stay here, the guest's own pass, each for its host alone. */
import type { AgentUrlSettings } from '../context.ts';

/** As the account area's: over https by a name that browsers take from no other host. */
const nameOf = ({ scheme }: AgentUrlSettings): string => (scheme === 'https' ? '__Host-lodge_visit' : 'lodge_visit');

/** Names that are ours, of whichever host and scheme. */
const ours = /^\s*(?:__(?:host|secure)-)?lodge_/i;

/** A page of another host of the domain may have set one that is not ours: a few are looked at, and one that holds is enough. */
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

/** The Cookie header as the guest sees it: what the host itself adds, and of the client's what has no name of either. */
export function cookiesForGuest(header: string | undefined, added = ''): string | undefined {
  const kept = (header ?? '').split(';').filter((pair) => !isHosts(pair, added));
  const all = [...kept, added].map((part) => part.trim()).filter((part) => part !== '');
  return all.length > 0 ? all.join('; ') : undefined;
}

/** The guest's Set-Cookie headers as a browser may see them: never one of the host's, and never for more than this host. */
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
