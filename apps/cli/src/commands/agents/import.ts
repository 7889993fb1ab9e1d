/** `lodge import`: agents from folders of OpenClaw and Hermes. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { ImportOptions } from '../../import/import.ts';
import type { On } from '../../run.ts';
import { pairs } from '../../values.ts';

export default function importCommand(command: Command, on: On): void {
  command.description('Make an agent of a folder that its runtime made elsewhere.');
  for (const [kind, folder] of [
    ['openclaw', '~/.openclaw'],
    ['hermes', '~/.hermes'],
  ] as const) {
    const each = command
      .command(kind)
      .argument('[folder]', `${folder} by default`)
      .description(`Make an agent of a folder of ${kind === 'openclaw' ? 'OpenClaw' : 'Hermes Agent'}.`)
      .option('--name <text>', "the agent's name")
      .option('--model <name>', 'another model than that of the folder')
      .option('--provider <id>', 'the provider whose key is asked for')
      .option(
        '--secret <name=source>',
        'a secret instead of a question: anthropic=env:NAME, telegram.botToken=file:PATH',
        pairs,
      )
      .option('--size <size>', 'size of the machine')
      .option('--workspace <folder>', 'where the workspace is, if not where the folder says')
      .option('--no-sessions', 'leave its conversations out')
      .option('--no-channels', 'leave its channels out')
      .option('--plan', 'show what would be taken, and make nothing');
    if (kind === 'openclaw') each.option('--agent <id>', 'another agent of the folder than its default');
    examples(
      each,
      [`lodge import ${kind}`, `take ${folder} over; its secrets are asked for`],
      [
        `lodge import ${kind} ./copy --name ada --secret anthropic=env:ANTHROPIC_API_KEY`,
        'take a copy over in a script',
      ],
    ).action(
      on(async (run, options: ImportOptions, given: string | undefined) => {
        const { importFolder } = await import('../../import/import.ts');
        await importFolder(run, kind, given, options);
      }),
    );
  }
}
