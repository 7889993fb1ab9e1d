/** Options that name packages of the machine: each replaces one of the three lists. */
import type { Agent } from '@lodge/sdk';
import type { Command } from 'commander';
import { given, several } from '../values.ts';

export interface PackageOptions {
  readonly apt?: readonly string[];
  readonly pip?: readonly string[];
  readonly npm?: readonly string[];
}

type Lists = Partial<Agent['packages']>;

const managers = ['apt', 'pip', 'npm'] as const;

/** Names by which an update resets one list, or all of them. */
export const resettableLists = ['packages', ...managers.map((manager) => `packages.${manager}`)];

export const addPackages = (command: Command): Command =>
  command
    .option('--apt <name[=version]>', "a package of Debian's in its machine; several times for several", several)
    .option('--pip <name[==version]>', 'a Python package in its machine; several times for several', several)
    .option('--npm <name[@version]>', 'an npm package in its machine; several times for several', several);

/** Returns the lists that options set or empty; undefined when there are none. */
export function listsOf(options: PackageOptions, reset: readonly string[] = []): Lists | undefined {
  const { apt, pip, npm } = options;
  const emptied = managers.filter((manager) => reset.includes(`packages.${manager}`)).map((manager) => [manager, []]);
  const lists: Lists = { ...Object.fromEntries(emptied), ...given({ apt, pip, npm }) };
  return Object.keys(lists).length === 0 ? undefined : lists;
}

/** Returns the field of a request, which has all three lists: those of the options go before the others. */
export const packagesField = (lists: Lists | undefined, others: unknown): { packages?: object } =>
  lists === undefined ? {} : { packages: { ...(others as object | null | undefined), ...lists } };
