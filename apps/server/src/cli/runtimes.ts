import { parseArgs } from 'node:util';
import { ImageError } from '@lodge/images';
import { readConfig } from '../config/config.ts';
import { CommandError, commandLog } from './command.ts';
import type { Command } from './command.ts';
import { openRuntimes } from './runtimes/deployment.ts';
import type { Runtimes } from './runtimes/deployment.ts';
import { listRuntimes } from './runtimes/list.ts';
import { removeVersion } from './runtimes/remove.ts';
import { updateRuntime } from './runtimes/update.ts';
import { useVersion } from './runtimes/use.ts';

const usage = `runtimes                                    what is installed, and what there is
runtimes update RUNTIME [VERSION] [--hold]  builds, tests and then offers a version; --hold: not to new agents
runtimes use RUNTIME VERSION [--hold]       offers a version that has passed, or the one that Lodge brings
runtimes remove RUNTIME VERSION             removes one that is not offered and that no agent has`;

interface Asked {
  readonly names: readonly string[];
  readonly hold: boolean;
  readonly adaptation: string | null;
  readonly isJson: boolean;
}

type Subcommand = (runtimes: Runtimes, asked: Asked) => Promise<number>;

const subcommands: Readonly<Record<string, Subcommand>> = {
  list: (runtimes, { names, isJson }) => listRuntimes(runtimes, { isJson: count(names, 0, 0) && isJson }),
  update: (runtimes, { names, hold, adaptation }) => {
    count(names, 1, 2);
    return updateRuntime(runtimes, { runtime: names[0]!, version: names[1] ?? null, hold, adaptation });
  },
  use: (runtimes, { names, hold }) => {
    count(names, 2, 2);
    return useVersion(runtimes, { runtime: names[0]!, version: names[1]!, hold });
  },
  remove: (runtimes, { names }) => {
    count(names, 2, 2);
    return removeVersion(runtimes, { runtime: names[0]!, version: names[1]! });
  },
};

/** `runtimes [list|update|use|remove] …` */
export const runtimes: Command = async (args, env) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      hold: { type: 'boolean', default: false },
      adaptation: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [name = 'list', ...names] = positionals;
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (!subcommand) throw new CommandError(`There is no runtimes ${name}.\n\n${usage}`);
  const opened = openRuntimes(readConfig(env), env, commandLog(env));
  const { hold, json: isJson, adaptation = null } = values;
  try {
    return await subcommand(opened, { names, hold, adaptation, isJson });
  } catch (error) {
    // The error's words are for the operator.
    if (error instanceof ImageError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
};

function count(names: readonly string[], least: number, most: number): true {
  if (names.length >= least && names.length <= most) return true;
  throw new CommandError(`Say which runtime, and which version where it is asked for.\n\n${usage}`);
}
