/** `lodge export`: agents as files. */
import type { Command } from 'commander';
import { examples } from '../../examples.ts';
import type { On } from '../../run.ts';
import { pairs } from '../../values.ts';
import type { ExportOptions } from '../../apply/export/agents.ts';

export default function exportCommand(command: Command, on: On): void {
  command
    .argument('[agent...]', 'ids, names, or beginnings of ids; all agents by default')
    .description('Write agents as files that `lodge apply` takes. Secrets are placeholders.')
    .option('-l, --label <name=value>', 'agents with this label alone; several times for several', pairs)
    .option('-o, --output <path>', 'a file, or a folder that gets agents.yaml; stdout by default')
    .option('--files', 'also download the workspaces, which wakes the agents; with a folder')
    .option('--webhooks', 'also write the webhooks of the account')
    .option('--force', 'write over a file that is there');
  examples(
    command,
    ['lodge export > agents.yaml', 'write all agents'],
    ['lodge export -l team=support -o support.yaml', 'write those with a label'],
    ['lodge export ada -o ada --files', 'write one agent with its workspace into a folder'],
  ).action(
    on(async (run, options: ExportOptions, named: string[]) => {
      const { exportAgents } = await import('../../apply/export/agents.ts');
      await exportAgents(run, options, named);
    }),
  );
}
