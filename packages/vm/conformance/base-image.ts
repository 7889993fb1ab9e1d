import { createImageBuilder } from '@lodge/images';
import type { Image } from '@lodge/ports';

/** The cache that all Lodges of this host share. */
export const sharedCacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';

/** The smallest guest, from this host's cache; it is built if it is not there yet. */
export function baseImage(): Promise<Image> {
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  return createImageBuilder({ cacheDir: sharedCacheDir, log }).ensure(
    'base',
    () => undefined,
    AbortSignal.timeout(20 * 60_000),
  );
}
