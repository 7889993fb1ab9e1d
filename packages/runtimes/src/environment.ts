/**
 * The owner's variables in a guest, in two files of root's: one that shells read, and one for programs that are no
 * shells. Login shells (terminals, Hermes's background commands) find the first by themselves. The host gives the variables to
 * `exec`. By the images' recipes both runtimes read one of the files for each further command.
 */
import type { Variables } from '@lodge/domain';
import { keepRootFile } from './root-file.ts';
import type { RootFiles } from './root-file.ts';

export const shellFile = '/etc/profile.d/lodge-env.sh';
export const jsonFile = '/etc/lodge/env.json';

/** The part of a runtime's `inGuest`. Nothing without variables, so that other agents' digests stay as they were. */
export const environmentInGuest = (env: Variables): { readonly env?: Variables } => (hasNone(env) ? {} : { env });

const hasNone = (env: Variables): boolean => Object.keys(env).length === 0;

/**
 * Brings both files to these variables. Without variables they stay away where they never were; where they were, they say that
 * there are none any more, as shells of old conversations still have the earlier ones.
 */
export async function applyEnvironment(guest: RootFiles, env: Variables, signal: AbortSignal): Promise<void> {
  const files = [
    [jsonFile, `${JSON.stringify(env)}\n`],
    [shellFile, shellText(env)],
  ] as const;
  for (const [path, wanted] of files) await keepRootFile(guest, { path, wanted, isNone: hasNone(env) }, signal);
}

/** The variable with the names of those that a shell has from here. They go before the present ones are set. */
const namesVariable = 'LODGE_ENV';

function shellText(env: Variables): string {
  const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
  const names = Object.keys(env);
  return [
    '# Variables of the agent, set by API: changes in this file are lost.',
    `for lodge_name in \${${namesVariable}-}; do unset "$lodge_name"; done`,
    `unset lodge_name ${namesVariable}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}`),
    ...(names.length === 0 ? [] : [`export ${namesVariable}=${quoted(names.join(' '))}`]),
    '',
  ].join('\n');
}
