/** Places of files: a local path, or `AGENT:PATH` in an agent's workspace. */
import { usageError } from '../failure.ts';

export type Place = { readonly agent: null; readonly path: string } | { readonly agent: string; readonly path: string };

/** As in scp: what stands before a colon is an agent, unless a slash comes first. */
export function placeOf(text: string): Place {
  const at = text.indexOf(':');
  const slash = text.indexOf('/');
  if (at < 0 || (slash >= 0 && slash < at)) return { agent: null, path: text };
  if (at === 0) throw usageError('A place in a workspace is AGENT:PATH.');
  return { agent: text.slice(0, at), path: withoutSlashes(text.slice(at + 1)) };
}

/** A path of the workspace, without slashes at its ends and without the workspace's own name. */
export function withoutSlashes(path: string): string {
  const inside = path === '/workspace' || path.startsWith('/workspace/') ? path.slice('/workspace'.length) : path;
  return inside
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

/** The last name of a path. */
export const nameOf = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? '';

export const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('/');
