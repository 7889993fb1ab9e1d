/** `lodge __complete`: the words that may follow, for the shells' scripts. It says nothing when something fails. */
import type { Command } from 'commander';
import type { On } from '../../run.ts';

export default function complete(command: Command, on: On): void {
  command
    .argument('[words...]')
    .allowUnknownOption()
    .action(
      on(async (run, _options: object, words: readonly string[]) => {
        const { candidates } = await import('../../completion/candidates.ts');
        for (const { word, meaning } of await candidates(run, words)) run.out.write(`${word}\t${meaning}\n`);
      }),
    );
}
