/**
 * The browser of a guest, which the daemon there offers. The file by which it keeps the owner's wish also shows the tool to both
 * runtimes, with each turn, so a change needs neither a restart nor a call of a gateway.
 */
import { isUnknownRoute, type GuestClient } from '@lodge/guest';
import { rootText } from './root-file.ts';

/** As in `apps/guestd/src/browser` and in the images' recipes. */
const wishPath = '/var/lib/lodge/browser';

/** The part of a runtime's `inGuest`. Nothing without a browser, so that other agents' digests stay as they were. */
export const browserInGuest = (browser: boolean): { readonly browser?: true } => (browser ? { browser: true } : {});

/** A machine with an older daemon goes without one, and the agent's record says that it is outdated. */
export async function applyBrowser(
  guest: Pick<GuestClient, 'browser' | 'readFile'>,
  browser: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (!browser && (await rootText(guest, wishPath, 1_024, signal)) === null) return;
  try {
    await guest.browser.put(browser, { signal });
  } catch (error) {
    if (!isUnknownRoute(error)) throw error;
  }
}

/** As in `apps/guestd/src/browser`. */
const profilePath = '/home/agent/.browser';

/** Ends the browser and removes its profile. Only then is no program left that would write it again. */
export async function forgetBrowser(
  guest: Pick<GuestClient, 'browser' | 'exec' | 'pace'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await guest.browser.put(false, { signal });
  } catch (error) {
    if (isUnknownRoute(error)) return;
    throw error;
  }
  const argv = ['rm', '-rf', '--', profilePath];
  const { exitCode } = await guest.exec({ argv, user: 'root', timeoutMs: 30_000 * guest.pace }, { signal });
  if (exitCode !== 0) throw new Error(`the profile of the browser was not removed: rm ended with ${exitCode}`);
}
