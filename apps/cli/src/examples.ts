/** Examples of commands, for `--help` and the manual page. */
import type { Command } from 'commander';

export type Example = readonly [command: string, meaning: string];

const examplesOf = new WeakMap<Command, readonly Example[]>();

/** Gives a command its examples, and returns it. */
export function examples(command: Command, ...all: readonly Example[]): Command {
  examplesOf.set(command, all);
  return command;
}

export const examplesFor = (command: Command): readonly Example[] => examplesOf.get(command) ?? [];

export function exampleText(command: Command): string {
  const all = examplesFor(command);
  if (all.length === 0) return '';
  return `\nExamples:\n${all.map(([text, meaning]) => `  # ${meaning}\n  ${text}\n`).join('\n')}`;
}
