/** Opens an address in the person's browser, where there is one. */
import { usageError } from '../failure.ts';

/** Returns whether a browser was asked. A server chose the address: only those of web pages are opened. */
export async function openInBrowser(env: NodeJS.ProcessEnv, address: string): Promise<boolean> {
  const url = webAddress(address);
  if (!hasBrowser(env)) return false;
  const { default: open } = await import('open');
  try {
    const child = await open(url);
    return await new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false));
      child.once('spawn', () => resolve(true));
      if (child.pid !== undefined) resolve(true);
      child.unref();
    });
  } catch {
    return false;
  }
}

/** Returns the address if it is one of a web page. */
export function webAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    throw usageError('The server gave an address that is no web page.');
  return url.href;
}

/** On Linux a browser needs a screen, unless the person names a program. */
const hasBrowser = (env: NodeJS.ProcessEnv): boolean =>
  process.platform !== 'linux' ||
  ['DISPLAY', 'WAYLAND_DISPLAY', 'BROWSER', 'WSL_DISTRO_NAME'].some((name) => (env[name] ?? '') !== '');
