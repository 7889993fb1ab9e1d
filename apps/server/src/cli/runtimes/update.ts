/**
 * Brings another version of a runtime to this host, step by step. A kill between any two leaves a version that nobody is
 * offered, and the same command goes on from there:
 *
 *   packages locked, edits tried -> recipe published -> image built -> conformance suite run -> verdict written -> offered
 */
import {
  imageName,
  ImageError,
  collectUnfinished,
  prepareVersion,
  releasedVersions,
  VersionError,
  versionPattern,
} from '@lodge/images';
import type { Verdict } from '@lodge/images';
import { CommandError, say } from '../command.ts';
import { runConformance } from './conformance.ts';
import { alone, runtimeNamed, whyNotOffered } from './deployment.ts';
import type { Known, Runtimes } from './deployment.ts';
import { collectVersions } from './remove.ts';
import { offer } from './use.ts';

export interface WantedUpdate {
  readonly runtime: string;
  /** Null: the newest one in its registry. */
  readonly version: string | null;
  readonly hold: boolean;
  /** A file like those in `images/adapted`. */
  readonly adaptation: string | null;
}

const registryTimeoutMs = 60_000;
const prepareTimeoutMs = 60 * 60_000;
const imageTimeoutMs = 60 * 60_000;

/** Returns the exit code: 1 for a failed version, which is reported with the failing case. */
export async function updateRuntime(runtimes: Runtimes, wanted: WantedUpdate): Promise<number> {
  const known = runtimeNamed(runtimes, wanted.runtime);
  const version = wanted.version ?? (await newest(runtimes, known));
  if (!versionPattern.test(version)) throw new CommandError(`${version} is not a version.`);
  if (version === known.runtime.version) {
    say(
      `${known.runtime.name} ${version} comes with Lodge; runtimes use ${known.runtime.name} ${version} goes back to it.`,
    );
    return 0;
  }
  return alone(runtimes, async () => {
    const failure = await bring(runtimes, known, version, wanted.adaptation);
    if (failure !== null) {
      say(`${known.runtime.name} ${version} is kept from agents. It failed: ${failure.case ?? failure.reason}`);
      if (failure.case !== null) say(`  ${failure.reason}`);
      if (failure.step === 'conformance')
        say(`  What its tests said: ${runtimes.installed.logOf(known.runtime.name, version)}`);
      return 1;
    }
    await offer(runtimes, known, version, wanted.hold);
    await collectVersions(runtimes, known, version);
    return 0;
  });
}

async function newest({ log }: Runtimes, { runtime }: Known): Promise<string> {
  const [first] = await releasedVersions(runtime.source, {
    log,
    signal: AbortSignal.timeout(registryTimeoutMs),
  });
  if (first === undefined) throw new CommandError(`The registry has no version of ${runtime.name}.`);
  return first;
}

/** Null when the version has passed; else the failure, which its verdict has too. */
async function bring(
  runtimes: Runtimes,
  known: Known,
  version: string,
  adaptation: string | null,
): Promise<Verdict['failure']> {
  const { installed } = runtimes;
  const { name, templateVariant: variant } = known.runtime;
  if (adaptation === null && (await whyNotOffered(runtimes, known, version)) === null) {
    say(`${name} ${version} has passed its tests before.`);
    return null;
  }
  const verdict = async (image: string | null, failure: Verdict['failure']): Promise<Verdict['failure']> => {
    const at = new Date().toISOString();
    await installed.writeVerdict(name, version, { image, variant, passed: failure === null, failure, at });
    return failure;
  };
  try {
    const image = await makeImage(runtimes, known, version, adaptation);
    say('Running the conformance suite of runtimes in a Lodge of its own; this takes minutes without KVM.');
    return await verdict(image, await runConformance(runtimes, known, version, image));
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    // A registry that does not answer proves nothing about the version.
    if (error instanceof VersionError && error.step === 'packages') throw error;
    const step = error instanceof VersionError ? error.step : 'image';
    return verdict(null, { step, case: null, reason: error.message });
  }
}

/** The image's id. */
async function makeImage(
  { installed, images, log }: Runtimes,
  { runtime: { name: runtime, source } }: Known,
  version: string,
  adaptationFile: string | null,
): Promise<string> {
  say(`Locking the packages of ${runtime} ${version}, and trying the changes that Lodge makes to it.`);
  await collectUnfinished(installed);
  // The error has the last output of a registry's tool.
  const context = { log: { ...log, error: () => undefined }, signal: AbortSignal.timeout(prepareTimeoutMs) };
  await prepareVersion({ installed }, { runtime, source, version, adaptationFile }, context);
  let said = '';
  const progress = (step: string): void => {
    if (step !== said) say(`  ${step}`);
    said = step;
  };
  const { id } = await images.ensure(imageName(runtime, version), progress, AbortSignal.timeout(imageTimeoutMs));
  return id;
}
