/** Lists the versions of runtimes, with the operator's own tools and settings, such as a mirror or a proxy. */
import type { RuntimeSource } from '@lodge/ports';
import type { RunContext } from '../run.ts';
import { run } from '../run.ts';
import { versionPattern } from './installed.ts';

const askMs = 60_000;
/** Most versions that are read; a registry has hundreds. */
const maxVersions = 5_000;
export const npmFailure = {
  reason: /^npm error (?!code |errno |syscall )/,
  advice: 'Check that npm can reach its registry (npm ping).',
};
export const pipFailure = {
  reason: /^ERROR: /,
  advice: 'Check that pip can reach its index (pip3 index versions certifi).',
};

/**
 * Returns the registry's released versions, newest first. Rejects with `ImageError`, in words, when the registry cannot be
 * asked.
 */
export async function releasedVersions(source: RuntimeSource, context: RunContext): Promise<readonly string[]> {
  const found =
    source.registry === 'npm' ? await ofNpm(source.package, context) : await ofPypi(source.package, context);
  return [...new Set(found)].filter(isReleased).slice(0, maxVersions).sort(newestFirst);
}

async function ofNpm(name: string, context: RunContext): Promise<readonly string[]> {
  const argv = ['npm', 'view', name, 'versions', '--json', '--fetch-retries=1', '--loglevel=error'] as const;
  const answer: unknown = JSON.parse(await run({ argv: [...argv], timeoutMs: askMs, ...npmFailure }, context));
  const all: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  return all.filter((each) => typeof each === 'string');
}

async function ofPypi(name: string, context: RunContext): Promise<readonly string[]> {
  const argv = ['pip3', 'index', 'versions', name, '--no-input', '--disable-pip-version-check', '--retries=1'] as const;
  const answer = await run({ argv: [...argv], timeoutMs: askMs, ...pipFailure }, context);
  const line = answer.split('\n').find((each) => each.startsWith('Available versions: ')) ?? '';
  return line
    .slice(line.indexOf(':') + 1)
    .split(',')
    .map((each) => each.trim());
}

/** Whether a version is released. Betas must be named explicitly. */
const isReleased = (version: string): boolean => versionPattern.test(version) && /^[0-9.]+$/.test(version);

/** Compares versions by their numbers, as both registries order them. */
export function newestFirst(one: string, other: string): number {
  const [ours, theirs] = [numbersOf(one), numbersOf(other)];
  for (let index = 0; index < Math.max(ours.length, theirs.length); index += 1) {
    const difference = (theirs[index] ?? 0) - (ours[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const numbersOf = (version: string): number[] => version.split(/[.+-]/).map(Number);
