/**
 * Paths of HTTP requests, in the one way in which they may be written. Servers and proxies do not agree on the meaning of
 * `..`, `//`, `%2F`, `;` or a wide slash, so the checker and the server of a path could see two paths. Nothing is normalised
 * here: a path that is not canonical is refused. Each function reads a character a bounded number of times.
 */
import { connectionBounds } from './bounds.ts';

/** RFC 3986's `pchar` without `;`, at which some servers cut a segment. */
const segmentCharacters = /^(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-F]{2})*$/;
/** Whether a path has only one meaning: it begins with a slash, and no segment within it is empty, `.` or `..`. */
export function isCanonicalPath(path: string): boolean {
  if (!path.startsWith('/') || path.length > connectionBounds.pathChars) return false;
  const segments = path.slice(1).split('/');
  return segments.every((segment, index) => (segment === '' ? index === segments.length - 1 : isPlainSegment(segment)));
}

function isPlainSegment(segment: string): boolean {
  if (segment === '.' || segment === '..' || !segmentCharacters.test(segment)) return false;
  return !segment.includes('%') || encodesPlainly(segment);
}

/**
 * Characters that a path contains unencoded. Their encoding would be another spelling of the same path, or a sign with a
 * meaning.
 */
const neverEncoded = /[A-Za-z0-9._~!$&'()*+,;=:@/\\%?#-]/;
const invisible = /[\p{C}\p{Z}]/u;

/** Whether each percent-encoding is a visible character (or a space) of valid UTF-8 that cannot stand unencoded. */
function encodesPlainly(segment: string): boolean {
  const encoded = segment.match(/(?:%[0-9A-F]{2})+/g) ?? [];
  return (
    encoded.every((run) => {
      const text = decoded(run);
      if (text === null || neverEncoded.test(text)) return false;
      return !invisible.test(text.replaceAll(' ', ''));
    }) && isNormal(decoded(segment)!)
  );
}

/** Whether a text has no wide slash, no sign for two dots, and no letter in two pieces. */
const isNormal = (text: string): boolean => text.normalize('NFKC') === text;

function decoded(run: string): string | null {
  try {
    return decodeURIComponent(run);
  } catch {
    return null;
  }
}

/** Whether a pattern is a canonical path, or one that ends in `/*` and has no other star. */
export function isPathPattern(pattern: string): boolean {
  const whole = pattern.endsWith('/*') ? pattern.slice(0, -1) : pattern;
  return !whole.includes('*') && isCanonicalPath(whole);
}

/** Whether a path matches a pattern; both are well formed. `/a/*` matches everything below `/a/`, but not `/a`. */
export const matchesPattern = (pattern: string, path: string): boolean =>
  pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;

/** Whether the text behind the `?` of a request is printable ASCII that no URL parser rewrites. */
export const isPlainQuery = (query: string): boolean =>
  query.length <= maxQueryChars && /^[A-Za-z0-9._~!$&()*+,;=:@/?%|[\]{}^`-]*$/.test(query);

const maxQueryChars = 8_192;
