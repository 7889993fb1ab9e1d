/** `lodge apply`: agents as files. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { integer, pairs, several } from '../../values.ts';
import type { ApplyOptions } from '../../apply/apply.ts';

const maxParallel = 16;

export default function apply(command: Command, on: On): void {
  command
    .description('Make agents what files say. The plan is shown first, and asked for.')
    .option('-f, --file <path>', 'YAML or JSON, a folder, or - for stdin; several times for several', several)
    .option('--plan', 'show what would change, and change nothing: exit code 8 if anything would')
    .option('--dry-run', 'the same')
    .option('--prune', 'remove what the files do not have: entries of their lists, and agents with their labels')
    .option('-l, --label <name=value>', 'with --prune: labels of agents that are removed', pairs)
    .option('--secrets-out <file>', 'write addresses of hooks and secrets of webhooks here, which are shown once')
    .option('--check-files', 'read the workspaces of running agents, to find what they changed')
    .option('--parallel <number>', 'agents that are changed at once', integer(1, maxParallel), 4)
    .option('--wait', 'wait until new agents run')
    .option('--schema', 'print the JSON Schema of the files, for editors');
  examples(
    command,
    ['lodge apply -f agents.yaml', 'show the plan, ask, and carry it out'],
    ['lodge apply -f agents --plan', 'in CI: exit code 8 says that changes are pending'],
    [
      'lodge apply -f agents.yaml --prune --yes',
      'also remove agents with the labels of the file that it does not have',
    ],
    ['lodge apply --schema > agents.schema.json', 'let an editor check and complete the files'],
  ).action(
    on(async (run, options: ApplyOptions) => {
      const { apply: act } = await import('../../apply/apply.ts');
      await act(run, options);
    }),
  );
}
