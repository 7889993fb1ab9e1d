import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import { ImageError } from './errors.ts';

/** The guest daemon as one JavaScript file without dependencies, for the image's Node. */
export async function bundleGuestd(): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve('@lodge/guestd'));
  const bundles = await build({
    cwd: dirname(entry),
    entry,
    config: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    dts: false,
    write: false,
    clean: false,
    logLevel: 'silent',
    deps: { alwaysBundle: [/^@lodge\//] },
  });
  const chunks = bundles.flatMap((bundle) => bundle.chunks);
  const [chunk] = chunks;
  if (chunk?.type !== 'chunk' || chunks.length !== 1) {
    throw new ImageError(`the guest daemon is bundled into ${chunks.length} files instead of one`);
  }
  return chunk.code;
}
