const home = '/keys';

/** Where to go after signing in: a page of ours, named by its path, never another place. */
export function safePath(path: unknown): string {
  return typeof path === 'string' && /^\/(?![/\\])/.test(path) ? path : home;
}

/** Search of the sign-in page that leads back to this path. */
export function signedOutPath(path: string): { to?: string } {
  return path === '/' || path === home ? {} : { to: path };
}
