/** `lodge cp`: files between this machine and an agent's workspace. */
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { examples } from '../../examples.ts';
import { download, sameSide, told, upload } from '../../files/copy.ts';
import { placeOf } from '../../files/place.ts';
import type { On, Run } from '../../run.ts';

interface CopyOptions {
  readonly recursive?: true;
  readonly wake?: true;
}

export default function cp(command: Command, on: On): void {
  command
    .argument('<from>', 'a local path, AGENT:PATH, or - for stdin')
    .argument('<to>', 'AGENT:PATH, a local path, or - for stdout')
    .option('-r, --recursive', 'copy folders with all that is in them')
    .option('--wake', 'start the agent where it is stopped')
    .addHelpText('after', '\nA file is there whole or not at all. Run the command again after a failure: it goes on.');
  examples(
    command,
    ['lodge cp report.pdf ada:reports/', 'copy a file into a folder of the workspace'],
    ['lodge cp -r ada:notes ./notes', 'copy a folder from the workspace'],
    ['lodge cp ada:data.csv - | head', 'print a file'],
  ).action(on(copyFiles));
}

async function copyFiles(run: Run, options: CopyOptions, from: string, to: string): Promise<void> {
  const source = placeOf(from);
  const target = placeOf(to);
  const agent = source.agent ?? target.agent;
  if (agent === null || (source.agent !== null && target.agent !== null)) throw sameSide();
  const copy = {
    agentId: await agentIdOf(run, agent),
    lodge: await run.lodge(),
    isRecursive: options.recursive === true,
    isWoken: options.wake === true,
  };
  const isUpload = source.agent === null;
  const copied = await (isUpload ? upload : download)(run, copy, source.path, target.path);
  if (copied.to === '-') return;
  run.out.result(copied, () => told(copied, agent, isUpload));
}
