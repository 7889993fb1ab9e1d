/** `lodge man`: the manual page, made from the tree of commands. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import { wholeTree } from '../../whole-tree.ts';
import type { On } from '../../run.ts';

export default function man(command: Command, on: On): void {
  examples(
    command.description('Print the manual page, in the format of man(1).'),
    ['lodge man | man -l -', 'read it'],
    ['lodge man > /usr/local/share/man/man1/lodge.1', 'install it'],
  ).action(
    on(async (run) => {
      const { manualPage } = await import('../../man/page.ts');
      run.out.write(manualPage(await wholeTree()));
    }),
  );
}
