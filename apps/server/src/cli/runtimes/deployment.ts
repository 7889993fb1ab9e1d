/** The state that the commands about versions of runtimes work on. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuntimeKind } from '@lodge/domain';
import { createImageBuilder, imageName, tryLock, whyNot } from '@lodge/images';
import type { InstalledVersions } from '@lodge/images';
import type { AgentRuntime, ImageBuilder, Log } from '@lodge/ports';
import { allRuntimes } from '@lodge/runtimes';
import { allAgents } from '@lodge/store/agents';
import { exists } from '../../host/files.ts';
import type { Config } from '../../config/config.ts';
import { installedVersions } from '../../host/installed-versions.ts';
import { CommandError } from '../command.ts';
import { withStore } from '../with-store.ts';

export interface Known {
  readonly kind: RuntimeKind;
  readonly runtime: AgentRuntime;
}

export interface Runtimes {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly known: readonly Known[];
  readonly installed: InstalledVersions;
  readonly images: ImageBuilder;
}

export function openRuntimes(config: Config, env: NodeJS.ProcessEnv, log: Log): Runtimes {
  const installed = installedVersions(config);
  const images = createImageBuilder({ cacheDir: config.cacheDir, versionsDir: installed.folder, log });
  const known = [...allRuntimes()].map(([kind, runtime]) => ({ kind, runtime }));
  return { config, env, log, known, installed, images };
}

export type AgentCounts = ReadonlyMap<string, number>;

export const agentsOf = (counts: AgentCounts, { kind }: Known, version: string): number =>
  counts.get(`${kind} ${version}`) ?? 0;

/** Throws `CommandError` for an unknown name. */
export function runtimeNamed({ known }: Runtimes, name: string): Known {
  const found = known.find(({ kind, runtime }) => runtime.name === name || kind === name);
  if (found) return found;
  const names = known.map(({ runtime }) => runtime.name).join(' and ');
  throw new CommandError(`There is no runtime ${name}; there are ${names}.`);
}

/** The number of agents with each used `kind version`; null if nothing was ever started here. */
export async function countAgents({ config, known, log }: Runtimes): Promise<AgentCounts | null> {
  if (!(await exists(join(config.dataDir, 'postgres'))) && config.databaseUrl === null) return null;
  return withStore(config, log, async ({ database }) => {
    const counts = new Map<string, number>();
    for (const { runtimeKind, runtimeVersion } of await database.repeatable(allAgents)) {
      const own = known.find(({ kind }) => kind === runtimeKind)?.runtime.version;
      const name = `${runtimeKind} ${runtimeVersion ?? own}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  });
}

/** Why that version cannot be offered, or null. */
export const whyNotOffered = (
  { installed, images }: Runtimes,
  { runtime: { name: runtime, templateVariant: variant } }: Known,
  version: string,
): Promise<string | null> => whyNot(installed, images, { runtime, variant, version });

export const imageOf = ({ images }: Runtimes, { runtime }: Known, version: string | null): Promise<string | null> =>
  images.idOf(imageName(runtime.name, version)).catch(() => null);

/** Lets one command at a time change versions. Throws `CommandError` when another does. */
export async function alone<T>({ installed }: Runtimes, work: () => Promise<T>): Promise<T> {
  await mkdir(installed.folder, { recursive: true, mode: 0o755 });
  const lock = await tryLock(join(installed.folder, '.lock'));
  if (lock === null)
    throw new CommandError('Another command is changing the versions of runtimes. Wait until it ends.');
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
