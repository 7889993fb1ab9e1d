/**
 * Paths of HTTP requests, in the one way in which they may be written. Servers and proxies do not agree on what `..`, `//`,
 * `%2F`, `;` or a wide slash mean: who checks a path and who serves it would see two. Nothing is normalised here: what is
 * not canonical is refused. Each function looks at a character a bounded number of times.
 */
import { connectionBounds } from './bounds.ts';

/** Of RFC 3986's `pchar`, without `;`, which some servers cut a segment at. */
const segmentCharacters = /^(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-F]{2})*$/;
/** Whether a path has one meaning alone: it begins with a slash, and no segment within it is empty, `.` or `..`. */
export function isCanonicalPath(path: string): boolean {
  if (!path.startsWith('/') || path.length > connectionBounds.pathChars) return false;
  const segments = path.slice(1).split('/');
  return segments.every((segment, index) => (segment === '' ? index === segments.length - 1 : isPlainSegment(segment)));
}

function isPlainSegment(segment: string): boolean {
  if (segment === '.' || segment === '..' || !segmentCharacters.test(segment)) return false;
  return !segment.includes('%') || encodesPlainly(segment);
}

/** What stands in a path as itself: encoded, it would be another writing of the same path, or a sign with a meaning. */
const neverEncoded = /[A-Za-z0-9._~!$&'()*+,;=:@/\\%?#-]/;
const invisible = /[\p{C}\p{Z}]/u;

/** Whether each percent-encoding is of a visible character (or a space) of valid UTF-8 that cannot stand for itself. */
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

/** No wide slash, no sign that stands for two dots, and no letter in two pieces. */
const isNormal = (text: string): boolean => text.normalize('NFKC') === text;

function decoded(run: string): string | null {
  try {
    return decodeURIComponent(run);
  } catch {
    return null;
  }
}

/** A canonical path, or one that ends in `/*` and has no other star. */
export function isPathPattern(pattern: string): boolean {
  const whole = pattern.endsWith('/*') ? pattern.slice(0, -1) : pattern;
  return !whole.includes('*') && isCanonicalPath(whole);
}

/** Both are well formed. `/a/*` is everything below `/a/`, which is not `/a`. */
export const matchesPattern = (pattern: string, path: string): boolean =>
  pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;

/** What follows the `?` of a request: printable ASCII that no URL parser writes in another way. */
export const isPlainQuery = (query: string): boolean =>
  query.length <= maxQueryChars && /^[A-Za-z0-9._~!$&()*+,;=:@/?%|[\]{}^`-]*$/.test(query);

const maxQueryChars = 8_192;
