/** `lodge files`: what lies in an agent's workspace. `lodge cp` copies it. */
import type { AgentFile } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import { withoutSlashes } from '../../files/place.ts';
import { showList } from '../../gathered.ts';
import type { On } from '../../run.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';
import { ago, bytes } from '../../terminal/words.ts';

interface ListOptions {
  readonly recursive?: true;
  readonly wake?: true;
}
interface DeleteOptions {
  readonly recursive?: true;
}

const most = 100_000;

export default function files(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .argument('[path]', 'a folder; the whole workspace otherwise')
    .option('-r, --recursive', 'and what is below it')
    .option('--wake', 'start the agent where it is stopped')
    .description('List files of the workspace.');
  examples(list, ['lodge files list ada notes', 'show what lies in the folder notes']).action(
    on(async (run, { recursive, wake }: ListOptions, agent: string, given = '') => {
      const path = withoutSlashes(given as string);
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const call = { ...run.call, ...(wake && { wake: true }) };
      const items = recursive
        ? lodge.files.walk(id, path, call)
        : lodge.files.list(id, { path, limit: 1000, ...(wake && { wake: true }) }, run.call);
      await showList<AgentFile>(
        run,
        items,
        most,
        [
          { title: 'mode', value: ({ mode }) => mode },
          { title: 'size', value: ({ type, size }) => (type === 'file' ? bytes(size) : '-'), align: 'right' },
          { title: 'changed', value: ({ modified_at }) => ago(modified_at), align: 'right' },
          { title: 'path', value: nameOf, keep: true },
        ],
        'The folder is empty.',
      );
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .argument('<path>', 'a file, or an empty folder')
    .option('-r, --recursive', 'a folder with all that is in it')
    .description('Delete a file of the workspace.');
  examples(remove, ['lodge files delete ada drafts -r', 'delete the folder, after a question']).action(
    on(async (run, { recursive }: DeleteOptions, agent: string, given: string) => {
      const path = withoutSlashes(given);
      if (path === '') throw usageError('The workspace itself cannot be deleted.');
      const id = await agentIdOf(run, agent);
      if (!run.isYes) await confirm(run, `Delete ${safeLine(path, 200)}${recursive ? ' with all that is in it' : ''}?`);
      const lodge = await run.lodge();
      const deleted = await lodge.files.delete(id, path, { ...run.call, ...(recursive && { recursive: true }) });
      run.out.result(deleted, () => `Deleted ${safeLine(path, 200)}.\n`);
    }),
  );
}

const nameOf = ({ path, type, target }: AgentFile): string =>
  type === 'directory' ? `${path}/` : type === 'symlink' ? `${path} -> ${target ?? '?'}` : path;
