import { join } from 'node:path';
import type { ImageBuilder, Log } from '@lodge/ports';
import { createImageBuilder } from './builder.ts';

export const imagesDir = join(import.meta.dirname, '..');

/** The reason why a test that builds or needs a built image is skipped, or false. */
export const notRoot = process.getuid?.() === 0 ? false : 'building an image needs root';

const ignore = (): void => undefined;
export const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Returns a builder over the service's own cache, so an image is built once for all tests. */
export function sharedBuilder(): ImageBuilder {
  const cacheDir = process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge';
  return createImageBuilder({
    cacheDir,
    log: { ...silent, error: (fields, message) => console.error(message, fields) },
  });
}
