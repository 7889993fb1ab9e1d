import { CommandError, say } from '../command.ts';
import { alone, runtimeNamed, whyNotOffered } from './deployment.ts';
import type { Known, Runtimes } from './deployment.ts';

export interface VersionToUse {
  readonly runtime: string;
  readonly version: string;
  /** New agents stay with their present version. */
  readonly hold: boolean;
}

/**
 * Offers a version that has passed its tests, or again the one that Lodge brings. A running control plane notices in
 * seconds.
 */
export async function useVersion(runtimes: Runtimes, wanted: VersionToUse): Promise<number> {
  const known = runtimeNamed(runtimes, wanted.runtime);
  const version = wanted.version === known.runtime.version ? null : wanted.version;
  const why = version === null ? null : await whyNotOffered(runtimes, known, version);
  if (why !== null) throw new CommandError(`${known.runtime.name} ${wanted.version} is not offered: ${why}.`);
  await alone(runtimes, () => offer(runtimes, known, version, wanted.hold));
  return 0;
}

/** The one write that offers it. */
export async function offer(
  { installed }: Runtimes,
  { runtime }: Known,
  version: string | null,
  hold: boolean,
): Promise<void> {
  const { fresh } = await installed.offer(runtime.name);
  await installed.writeOffer(runtime.name, { fresh: hold ? fresh : version, upgrade: version });
  const name = `${runtime.name} ${version ?? runtime.version}`;
  say(`Agents of ${runtime.name} can be upgraded to ${name} (upgrade_available on those that have another).`);
  say(hold ? `New agents are held on ${fresh ?? runtime.version}.` : `New agents are made with ${name}.`);
}
