import { readFile } from 'node:fs/promises';
import { inNamespace } from './shell.ts';

export interface Target {
  readonly protocol: 'tcp' | 'udp';
  readonly host: string;
  readonly port: number;
  /** Local address to ask from. */
  readonly from?: string;
}

/** `answer` is what a listener said, null when it said nothing. `failure` is `silent` when it did take the connection. */
export interface Outcome {
  readonly answer: string | null;
  readonly failure: string | null;
}

export interface Prober {
  ask(targets: readonly Target[]): Promise<Outcome[]>;
}

export const isReached = ({ answer, failure }: Outcome): boolean => answer !== null || failure === 'silent';

/** The prober's program, for `node --input-type=module --eval`, and its environment. */
export async function probe(
  targets: readonly Target[],
  timeoutMs: number,
): Promise<{ readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }> {
  const script = await readFile(new URL('probe.mjs', import.meta.url), 'utf8');
  return {
    args: ['--input-type=module', '--eval', script],
    env: { TARGETS: JSON.stringify(targets), TIMEOUT_MS: String(timeoutMs) },
  };
}

/**
 * A listener answers within milliseconds, on a machine that does much else within seconds. An address that never answers
 * costs all of it.
 */
const patienceMs = 5_000;

/** Asks from a network namespace, as the user given. */
export async function askFrom(
  namespace: string | null,
  targets: readonly Target[],
  options: { readonly uid?: number; readonly timeoutMs?: number } = {},
): Promise<Outcome[]> {
  const user = options.uid === undefined ? [] : ['setpriv', `--reuid=${options.uid}`, '--clear-groups'];
  const { args, env } = await probe(targets, options.timeoutMs ?? patienceMs);
  return JSON.parse(await inNamespace(namespace, [...user, process.execPath, ...args], env)) as Outcome[];
}
