const home = '/keys';

/** Returns the page to show after signing in: one of ours, by its path, and never another place. */
export function safePath(path: unknown): string {
  return typeof path === 'string' && /^\/(?![/\\])/.test(path) ? path : home;
}

/** Returns the search of the sign-in page that leads back to this path. */
export function signedOutPath(path: string): { to?: string } {
  return path === '/' || path === home ? {} : { to: path };
}
