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

const npmName = /^[A-Za-z0-9~-]{1,214}(?:[._][A-Za-z0-9._~-]{0,214})?$/;

function withPlainScope(segment: string): string {
  const at = segment.search(/%2[Ff]/);
  const [scope, name] = [segment.slice(1, at), segment.slice(at + 3)];
  const isScoped = at > 0 && segment.startsWith('@') && npmName.test(scope) && npmName.test(name);
  return isScoped ? `@${scope}/${name}` : segment;
}

/**
 * Returns a path with the names of npm's packages in scopes written plainly: npm asks for `/@scope%2fname`. The plain path is
 * what rules are about and what is sent, so nothing is reached that could not be asked for plainly. All else stays as written.
 */
export const withPlainScopes = (path: string): string =>
  path.length > connectionBounds.pathChars || !path.includes('%2')
    ? path
    : path.split('/').map(withPlainScope).join('/');

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
