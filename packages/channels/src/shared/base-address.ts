import { optional, origin } from '@lodge/ports/settings';

/** The setting of where a platform is reached. `url` is its own. */
export const baseAddress = (name: string, url: string, what: string) =>
  optional(
    name,
    'http(s) URL without a path',
    `\`${url}\``,
    `Where ${what} is reached, when that is not the platform itself (a proxy, a server of one's own).`,
    origin,
  );
