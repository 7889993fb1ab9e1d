/** The path in the workspace of a relative address, of one below /workspace, or of a `file:` or `sandbox:` address. */
export function workspacePath(href: string): string | undefined {
  const [address = ''] = href.split(/[?#]/, 1);
  const local = address.replace(/^(?:file|sandbox):(?:\/\/)?(?=\/)/, '');
  if (local === '' || /^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(local)) return undefined;
  const path = decoded(local);
  // oxlint-disable-next-line no-control-regex -- a name with controls is none that an agent means
  if (path === undefined || path.length > 1000 || /[\u0000-\u001F\u007F]/.test(path)) return undefined;
  if (path.startsWith('/') && !path.startsWith('/workspace/')) return undefined;
  const parts = path
    .replace(/^\/workspace\//, '')
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  return parts.length === 0 || parts.includes('..') ? undefined : parts.join('/');
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
