/** The tree with every group loaded, for what is made of it: completion, the manual page and tests. */
import type { Command } from 'commander';
import { makeProgram } from './program.ts';

export const wholeTree = (): Promise<Command> =>
  makeProgram({
    on: () => async () => undefined,
    write: () => undefined,
    writeError: () => undefined,
    columns: 80,
    wanted: () => true,
  });
