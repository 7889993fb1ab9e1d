/** Every operation of the API has its command, or a line that says why not. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { wholeTree } from '../../../apps/cli/src/whole-tree.ts';
import { places } from '../operations.ts';

/** Groups that are still being made. */
const pending = new Set<string>();

type Command = Awaited<ReturnType<typeof wholeTree>>;

/** Returns the command that these words lead to. */
function commandAt(program: Command, words: readonly string[]): Command | undefined {
  let at: Command | undefined = program;
  for (const word of words) at = at?.commands.find((command) => command.name() === word);
  return at;
}

test('each operation of the OpenAPI document is in the table, and each command of the table can be typed', async () => {
  const file = new URL('../../../docs/reference/openapi.json', import.meta.url);
  const { paths } = JSON.parse(await readFile(file, 'utf8')) as { paths: Record<string, Record<string, unknown>> };
  const operations = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => (operation as { readonly operationId?: string }).operationId)
    .filter((id) => id !== undefined);
  assert.ok(operations.length > 90);
  const program = await wholeTree();
  const wrong: string[] = [];
  for (const id of operations) {
    const command = places[id]?.command;
    if (command === undefined) wrong.push(`${id}: in no line of the table`);
    else if (typeof command !== 'string') assert.notEqual(command.none, '', id);
    else {
      const found = commandAt(program, command.split(' '));
      const isLeaf = found !== undefined && (found.commands.length === 0 || command.split(' ').length === 1);
      if (!isLeaf && !pending.has(command.split(' ')[0]!)) wrong.push(`${id}: lodge ${command}`);
    }
  }
  assert.deepEqual(wrong, []);
});
