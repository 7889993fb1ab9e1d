import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { examplesFor } from './examples.ts';
import { fullName, manualPage } from './man/page.ts';
import { tree } from './program.ts';
import { wholeTree } from './whole-tree.ts';

/** Splits an example as a shell does, as far as examples need it. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+="[^"]*")|(\S+)/g)].map(
    ([, double, single, assigned, plain]) => double ?? single ?? assigned?.replaceAll('"', '') ?? plain!,
  );
}

const leaves = (program: Command): Command[] =>
  tree(program).filter((command) => command.commands.length === 0 && !command.name().startsWith('_'));

describe('the tree of commands', () => {
  test('every command says what it does, with an example', async () => {
    for (const command of leaves(await wholeTree())) {
      assert.notEqual(command.description(), '', fullName(command));
      assert.ok(examplesFor(command).length > 0, `${fullName(command)} has no example`);
    }
  });

  test('every example is a command that can be typed', async () => {
    const program = await wholeTree();
    for (const command of tree(program)) {
      for (const [example] of examplesFor(command)) {
        // The part of a line that is `lodge`, without what a shell does around it.
        const [, line] =
          /(?:^|\(|-- )(lodge [^|<>;)]*)/.exec(
            example.replaceAll(/"[^"]*"|'[^']*'/g, (text) => text.replaceAll(/[|<>;()]/g, '_')),
          ) ?? [];
        assert.ok(line !== undefined, `${fullName(command)}: ${example}`);
        const args = words(line).slice(1);
        if (args[0]?.startsWith('-')) continue;
        const parsed = await wholeTree();
        await assert.doesNotReject(parsed.parseAsync(args, { from: 'user' }), `${fullName(command)}: ${example}`);
      }
    }
  });

  test('options of every command are taken by every command', async () => {
    for (const command of leaves(await wholeTree()))
      for (const long of ['--json', '--context', '--url', '--yes'])
        assert.ok(
          command.options.some((option) => option.long === long),
          `${fullName(command)} ${long}`,
        );
  });

  test('the manual has every command once', async () => {
    const program = await wholeTree();
    const page = manualPage(program);
    for (const command of leaves(program)) {
      const heading = `.SS "${fullName(command).replaceAll('-', '\\-')}`;
      const found = page
        .split('\n')
        .filter((line) => line === `${heading}"` || line.startsWith(`${heading} <`) || line.startsWith(`${heading} [`));
      assert.equal(found.length, 1, fullName(command));
    }
    // A line that begins with a dot is an order to roff.
    assert.ok(
      page.split('\n').every((line) => !line.startsWith('.') || /^\.(?:TH|SH|SS|TP|B|I|P|PP|nf|fi)(?: |$)/.test(line)),
    );
  });
});
