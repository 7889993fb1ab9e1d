/** `lodge __keyring`: answers the command's own question of the system's keyring. */
import type { Command } from 'commander';
import { answerFromKeyring } from '../../context/keyring.ts';
import type { Question } from '../../context/keyring.ts';
import type { On } from '../../run.ts';
import { readStdin } from '../../terminal/prompt.ts';

export default function keyring(command: Command, on: On): void {
  command.action(
    on(async (run) => {
      const said = await answerFromKeyring(JSON.parse(await readStdin(run.signal)) as Question);
      run.out.write(JSON.stringify(said));
    }),
  );
}
