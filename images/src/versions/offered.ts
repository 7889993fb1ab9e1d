import { builtIn } from '@lodge/ports';
import type { ImageBuilder, Log, RuntimeVersion, RuntimeVersions } from '@lodge/ports';
import { imageName } from './installed.ts';
import type { InstalledVersions } from './installed.ts';

export interface OfferedOptions {
  readonly installed: InstalledVersions;
  /** The image builder, which knows the installed versions' recipes, too. */
  readonly images: Pick<ImageBuilder, 'idOf'>;
  readonly log: Log;
}

/** Reads the offer anew with each call. Logs once for each version why it is not offered. */
export function createRuntimeVersions({ installed, images, log }: OfferedOptions): RuntimeVersions {
  const said = new Set<string>();
  const choose = async (runtime: string, variant: string, version: string | null): Promise<RuntimeVersion> => {
    if (version === null) return builtIn(runtime);
    const why = await whyNot(installed, images, { runtime, variant, version });
    if (why === null) return { version, image: imageName(runtime, version) };
    if (!said.has(`${runtime} ${version}`)) log.warn({ runtime, version, why }, 'this version is not given to agents');
    said.add(`${runtime} ${version}`);
    return builtIn(runtime);
  };
  return {
    async offered(runtime, variant) {
      const { fresh, upgrade } = await installed.offer(runtime);
      const first = await choose(runtime, variant, fresh);
      return { fresh: first, upgrade: upgrade === fresh ? first : await choose(runtime, variant, upgrade) };
    },
  };
}

/** Returns the reason why agents may not have that version, in words, or null. */
export async function whyNot(
  installed: InstalledVersions,
  images: Pick<ImageBuilder, 'idOf'>,
  { runtime, variant, version }: { readonly runtime: string; readonly variant: string; readonly version: string },
): Promise<string | null> {
  try {
    const verdict = await installed.verdict(runtime, version);
    if (verdict === null) return 'it was not tested to the end';
    if (!verdict.passed)
      return `it failed: ${verdict.failure?.case ?? verdict.failure?.reason ?? 'no reason is known'}`;
    const isSame = verdict.variant === variant && verdict.image === (await images.idOf(imageName(runtime, version)));
    return isSame ? null : 'it was tested with another release of Lodge; update to it again';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
